using System.Diagnostics;

namespace Treepie.Rql.Syntax;

/// <summary>A value or a condition in a query. Immutable.</summary>
/// <param name="Position">Offset of its first character, for error messages.</param>
internal abstract record Expression(int Position);

/// <summary>A literal value.</summary>
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

/// <summary>A parameter: <c>$name</c>.</summary>
internal sealed record ParameterExpression(int Position, string Name) : Expression(Position);

/// <summary>A field: <c>Lines[].Product</c>.</summary>
internal sealed record PathExpression(int Position, IReadOnlyList<PathSegment> Segments) : Expression(Position)
{
    /// <summary>What the query has in its place, if the path is of a group; otherwise null.</summary>
    public string? Written { get; init; }

    public override string ToString() => string.Join('.', Segments);
}

/// <summary>A call: <c>search(Notes, 'x')</c>. The name is as written.</summary>
internal sealed record MethodExpression(int Position, string Name, IReadOnlyList<MethodArgument> Arguments) : Expression(Position)
{
    public bool Is(string name)
    {
        Debug.Assert(RqlKeywords.IsFunction(name), "RqlKeywords lists every function.");
        return string.Equals(Name, name, StringComparison.OrdinalIgnoreCase);
    }
}

/// <summary>
/// An argument of a call. It may have an alias if it is a call itself, or the first argument of <c>any</c>.
/// </summary>
internal sealed record MethodArgument(Expression Value, string? Alias);

/// <summary>A comparison.</summary>
internal sealed record CompareExpression(int Position, CompareOperator Operator, Expression Left, Expression Right)
    : Expression(Position)
{
    /// <summary>The operator as a query has it.</summary>
    public string Sign => Operator switch
    {
        CompareOperator.Equal => "=",
        CompareOperator.NotEqual => "!=",
        CompareOperator.Less => "<",
        CompareOperator.LessOrEqual => "<=",
        CompareOperator.Greater => ">",
        _ => ">=",
    };
}

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

/// <summary><c>Operand between Low and High</c>, both inclusive.</summary>
internal sealed record BetweenExpression(int Position, Expression Operand, Expression Low, Expression High)
    : Expression(Position);

/// <summary><c>Operand [all] in (values)</c>.</summary>
internal sealed record InExpression(int Position, Expression Operand, IReadOnlyList<Expression> Values, bool All)
    : Expression(Position);

/// <summary>A conjunction. A chain of ANDs is one node, so that long chains are not deep.</summary>
internal sealed record AndExpression(int Position, IReadOnlyList<Expression> Clauses) : Expression(Position);

/// <summary>A disjunction.</summary>
internal sealed record OrExpression(int Position, IReadOnlyList<Expression> Clauses) : Expression(Position);

/// <summary>A negation.</summary>
internal sealed record NotExpression(int Position, Expression Clause) : Expression(Position);
