#include "base/error.h"

namespace opentrn {

std::string to_string(const Complaint& complaint) {
  std::string text;
  if (!complaint.where.empty()) text += "[" + complaint.where + "] ";
  text += complaint.what;
  if (!complaint.got.empty()) text += ", got " + complaint.got;
  if (!complaint.expected.empty()) text += ", expected " + complaint.expected;
  if (!complaint.action.empty()) text += ", do: " + complaint.action;
  return text;
}

void raise(ErrorKind kind, const Complaint& complaint) { throw Error(kind, to_string(complaint)); }

}  // namespace opentrn
