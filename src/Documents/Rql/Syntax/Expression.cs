namespace Treepie.Rql.Syntax;

/// <summary>A part of a query that has, or tests, a value. Immutable.</summary>
/// <param name="Position">Offset of its first character, for errors.</param>
internal abstract record Expression(int Position);

/// <summary>A value written in the text.</summary>
internal sealed record LiteralExpression(int Position, LiteralKind Kind, string Text) : Expression(Position);

/// <summary>Kinds of <see cref="LiteralExpression"/>.</summary>
internal enum LiteralKind
{
    Null,
    True,
    False,
    String,
    Number,
}

/// <summary>A value given beside the text: <c>$name</c>.</summary>
internal sealed record ParameterExpression(int Position, string Name) : Expression(Position);

/// <summary>A field: <c>Lines[].Product</c>.</summary>
internal sealed record PathExpression(int Position, IReadOnlyList<PathSegment> Segments) : Expression(Position)
{
    public override string ToString() => string.Join('.', Segments);
}

/// <summary>A call: <c>search(Notes, 'x')</c>. The name is kept as written.</summary>
internal sealed record MethodExpression(int Position, string Name, IReadOnlyList<MethodArgument> Arguments) : Expression(Position)
{
    public bool Is(string name) => string.Equals(Name, name, StringComparison.OrdinalIgnoreCase);
}

/// <summary>An argument of a call; only calls can have an alias.</summary>
internal sealed record MethodArgument(Expression Value, string? Alias);

/// <summary>A comparison.</summary>
internal sealed record CompareExpression(int Position, CompareOperator Operator, Expression Left, Expression Right)
    : Expression(Position);

/// <summary>Operators of <see cref="CompareExpression"/>.</summary>
internal enum CompareOperator
{
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// <summary><c>Operand between Low and High</c>, both included.</summary>
internal sealed record BetweenExpression(int Position, Expression Operand, Expression Low, Expression High)
    : Expression(Position);

/// <summary><c>Operand [all] in (values)</c>.</summary>
internal sealed record InExpression(int Position, Expression Operand, IReadOnlyList<Expression> Values, bool All)
    : Expression(Position);

/// <summary>All clauses hold. A chain of ANDs is one node, so that its length is no depth.</summary>
internal sealed record AndExpression(int Position, IReadOnlyList<Expression> Clauses) : Expression(Position);

/// <summary>At least one clause holds.</summary>
internal sealed record OrExpression(int Position, IReadOnlyList<Expression> Clauses) : Expression(Position);

/// <summary>The clause does not hold.</summary>
internal sealed record NotExpression(int Position, Expression Clause) : Expression(Position);
