// Which operation is which kernel.

inline BinaryKernel find_binary(AluOp op, ComputeType type) {
  switch (op) {
    case AluOp::Bypass: return binary_of<First>(type);
    case AluOp::Add: return binary_of<Add>(type);
    case AluOp::Subtract: return binary_of<Subtract>(type);
    case AluOp::Multiply: return binary_of<Multiply>(type);
    case AluOp::Max: return binary_of<Max>(type);
    case AluOp::Min: return binary_of<Min>(type);
    case AluOp::Power: return find_power(type);
    case AluOp::IsEqual: return binary_of<IsEqual>(type);
    case AluOp::NotEqual: return binary_of<NotEqual>(type);
    case AluOp::GreaterEqual: return binary_of<GreaterEqual>(type);
    case AluOp::GreaterThan: return binary_of<GreaterThan>(type);
    case AluOp::LessEqual: return binary_of<LessEqual>(type);
    case AluOp::LessThan: return binary_of<LessThan>(type);
    case AluOp::LogicalAnd: return binary_of<LogicalAnd>(type);
    case AluOp::LogicalOr: return binary_of<LogicalOr>(type);
    case AluOp::LogicalXor: return binary_of<LogicalXor>(type);
    case AluOp::AbsMax: return binary_of<AbsMax>(type);
    case AluOp::AbsMin: return binary_of<AbsMin>(type);
    case AluOp::BitwiseAnd: return binary_of<BitwiseAnd>(type);
    case AluOp::BitwiseOr: return binary_of<BitwiseOr>(type);
    case AluOp::BitwiseXor: return binary_of<BitwiseXor>(type);
    case AluOp::ShiftLeft: return binary_of<ShiftLeft>(type);
    case AluOp::LogicalShiftRight: return binary_of<LogicalShiftRight>(type);
    case AluOp::ArithmeticShiftRight: return binary_of<ArithmeticShiftRight>(type);
    case AluOp::Divide: return binary_of<Divide>(type);
    case AluOp::Remainder: return binary_of<Remainder>(type);
    case AluOp::Atan2: return binary_of<Atan2>(type);
    case AluOp::NextAfter: return binary_of<NextAfter>(type);
    case AluOp::Abs:
    case AluOp::Square:
    case AluOp::Relu:
    case AluOp::Rsqrt:
    case AluOp::Reciprocal:
    case AluOp::Invert: return nullptr;
  }
  __builtin_unreachable();
}

inline UnaryKernel find_unary(AluOp op, ComputeType type) {
  switch (op) {
    case AluOp::Bypass: return unary_of<Bypass>(type);
    case AluOp::Abs: return unary_of<Abs>(type);
    case AluOp::Square: return unary_of<Square>(type);
    case AluOp::Relu: return unary_of<Relu>(type);
    case AluOp::Rsqrt: return unary_of<Rsqrt>(type);
    case AluOp::Reciprocal: return unary_of<Reciprocal>(type);
    case AluOp::Invert: return unary_of<Invert>(type);
    default: return nullptr;
  }
}
