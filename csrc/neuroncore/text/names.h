// How buffers, roles, spaces and immediates are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neuroncore/program.h"

namespace opentrn::neuroncore::text {

std::string_view name(Space space);
std::string_view name(Role role);

/// What stands behind "%" for each buffer: its name where that is an identifier, with its number behind it where others
/// have the same name; else its number.
std::vector<std::string> buffer_names(const Program& program);

bool is_identifier(std::string_view word);
bool is_identifier_start(char c);
bool is_identifier_part(char c);

/// The bytes as hexadecimal digits.
std::string hexadecimal(const std::byte* bytes, size_t count);

/// The shortest decimal form that gives the same bytes, or nothing when there is none.
std::string decimal(const Immediate& value);
/// The immediate a decimal form means.
Immediate from_decimal(DType dtype, const std::string& digits);

}  // namespace opentrn::neuroncore::text
