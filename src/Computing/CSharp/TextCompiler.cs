using System.Collections.Frozen;
using System.Globalization;
using System.Linq.Expressions;
using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Compiles a syntax tree to an expression tree over <see cref="Value"/>. Only a fixed vocabulary is supported: everything
/// else is rejected with its position, so that source code has no access to the runtime. Used for one source text.
/// </summary>
internal sealed class TextCompiler(TextSource source)
{
    /// <summary>The maximum nesting of expressions.</summary>
    private const int MaxDepth = 200;

    private static readonly MethodInfo _isTrue = typeof(Operators).GetMethod(nameof(Operators.IsTrue))!; // the method exists
    private readonly ParameterExpression _run = Expression.Parameter(typeof(Run), "run");
    private int _depth;

    /// <summary>Compiles an expression in which only the source is known.</summary>
    public Func<Run, Value> Compile(ExpressionSyntax text) =>
        Expression.Lambda<Func<Run, Value>>(Visit(text, Scope.Empty), _run).Compile();

    /// <summary>Compiles an expression to a value.</summary>
    public Expression Visit(ExpressionSyntax node, Scope scope)
    {
        if (++_depth > MaxDepth)
            throw source.Refuse(node, $"it is nested more than {MaxDepth} deep.");
        Expression value = node switch
        {
            ParenthesizedExpressionSyntax inner => Visit(inner.Expression, scope),
            LiteralExpressionSyntax literal => Literal(literal),
            InterpolatedStringExpressionSyntax text => Interpolate(text, scope),
            IdentifierNameSyntax name => Name(name, scope),
            MemberAccessExpressionSyntax member => Member(member, scope),
            ConditionalAccessExpressionSyntax access =>
                Visit(access.WhenNotNull, scope.WithReceiver(Visit(access.Expression, scope))),
            MemberBindingExpressionSyntax member => Get(Receiver(member, scope), member.Name.Identifier.ValueText),
            ElementBindingExpressionSyntax element => At(Receiver(element, scope), element.ArgumentList, scope),
            ElementAccessExpressionSyntax element => ElementOf(element, scope),
            InvocationExpressionSyntax call => new CallCompiler(this, source, _run).Visit(call, scope),
            BinaryExpressionSyntax binary => Binary(binary, scope),
            PrefixUnaryExpressionSyntax unary => Unary(unary, scope),
            PostfixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.SuppressNullableWarningExpression } sure =>
                Visit(sure.Operand, scope),
            ConditionalExpressionSyntax choice => Expression.Condition(
                Test(choice.Condition, scope), Visit(choice.WhenTrue, scope), Visit(choice.WhenFalse, scope)),
            CastExpressionSyntax cast => Call(
                typeof(Conversions), nameof(Conversions.Cast), Expression.Constant(TypeName(cast.Type)),
                Visit(cast.Expression, scope)),
            IsPatternExpressionSyntax test => Pattern(Visit(test.Expression, scope), test.Pattern, scope),
            QueryExpressionSyntax query => new QueryCompiler(this, source, _run).Visit(query, scope),
            DefaultExpressionSyntax => Expression.Constant(Value.Null),
            _ => new CreationCompiler(this, source).TryVisit(node, scope)
                ?? throw source.Refuse(node, $"'{Short(node)}' is not among what an index may compute."),
        };
        _depth--;
        return value;
    }

    /// <summary>Compiles a condition.</summary>
    public Expression Test(ExpressionSyntax node, Scope scope) => Expression.Call(_isTrue, Visit(node, scope));

    /// <summary>Compiles a lambda to a delegate over values.</summary>
    public Expression Lambda(ExpressionSyntax node, Scope scope)
    {
        (IReadOnlyList<ParameterSyntax> names, ExpressionSyntax? body) = node switch
        {
            SimpleLambdaExpressionSyntax simple => ([simple.Parameter], simple.ExpressionBody),
            ParenthesizedLambdaExpressionSyntax several => (several.ParameterList.Parameters, several.ExpressionBody),
            _ => throw source.Refuse(node, "a function 'x => …' is expected."),
        };
        if (body is null)
            throw source.Refuse(node, "a function is one expression here, without a block of statements.");
        ParameterExpression[] parameters =
            [.. names.Select(static name => Expression.Parameter(typeof(Value), name.Identifier.ValueText))];
        Scope inner = scope;
        foreach (ParameterExpression parameter in parameters)
            inner = inner.With(parameter.Name!, parameter); // the name was set above
        return Expression.Lambda(Visit(body, inner), parameters);
    }

    /// <summary>Returns the implied name of a member, as in <c>new { a.City }</c>.</summary>
    public string ImpliedName(ExpressionSyntax node) => node switch
    {
        IdentifierNameSyntax name => name.Identifier.ValueText,
        MemberAccessExpressionSyntax member => member.Name.Identifier.ValueText,
        ConditionalAccessExpressionSyntax access => ImpliedName(access.WhenNotNull),
        MemberBindingExpressionSyntax member => member.Name.Identifier.ValueText,
        ParenthesizedExpressionSyntax inner => ImpliedName(inner.Expression),
        _ => throw source.Refuse(node, $"a member needs a name: 'Name = {Short(node)}'."),
    };

    public static Expression Call(Type type, string method, params Expression[] arguments) =>
        Expression.Call(
            type.GetMethods(BindingFlags.Public | BindingFlags.Static)
                .First(one => one.Name == method && one.GetParameters().Length == arguments.Length),
            arguments);

    /// <summary>Returns the normalized name of a type: <c>int?</c> is <c>int</c>.</summary>
    public static string TypeName(TypeSyntax type) => type switch
    {
        NullableTypeSyntax nullable => TypeName(nullable.ElementType),
        PredefinedTypeSyntax word => word.Keyword.ValueText,
        QualifiedNameSyntax name => TypeName(name.Right),
        GenericNameSyntax generic => generic.Identifier.ValueText,
        IdentifierNameSyntax name => name.Identifier.ValueText switch
        {
            "String" => "string",
            "Int32" => "int",
            "Int64" => "long",
            "Double" => "double",
            "Decimal" => "decimal",
            "Boolean" => "bool",
            "Single" => "float",
            { } other => other,
        },
        _ => type.ToString(),
    };

    public static string Short(SyntaxNode node) => node.ToString() is { Length: > 60 } text ? text[..60] + "…" : node.ToString();

    private static Expression Get(Expression value, string name) =>
        Call(typeof(MemberAccess), nameof(MemberAccess.Get), value, Expression.Constant(name));

    private Expression Receiver(SyntaxNode node, Scope scope) =>
        scope.Receiver ?? throw source.Refuse(node, "'?.' follows a value.");

    private Expression At(Expression value, BracketedArgumentListSyntax arguments, Scope scope) =>
        arguments.Arguments is [{ } only]
            ? Call(typeof(MemberAccess), nameof(MemberAccess.At), value, Visit(only.Expression, scope))
            : throw source.Refuse(arguments, "one key or place stands between the brackets.");

    private Expression ElementOf(ElementAccessExpressionSyntax element, Scope scope) =>
        source.IsSource(element, scope) ? Source() : At(Visit(element.Expression, scope), element.ArgumentList, scope);

    private MemberExpression Source() => Expression.Property(_run, nameof(Run.Source));

    private Expression Name(IdentifierNameSyntax name, Scope scope)
    {
        string text = name.Identifier.ValueText;
        if (scope.Find(text) is { } known)
            return known;
        return source.IsSource(name, scope) ? Source() : throw source.Refuse(name, $"the name '{text}' stands for nothing here.");
    }

    private Expression Member(MemberAccessExpressionSyntax member, Scope scope)
    {
        if (source.IsSource(member, scope))
            return Source();
        string name = member.Name.Identifier.ValueText;
        if (TypeOf(member.Expression, scope) is { } type)
        {
            return StaticMember(type, name) is { } constant
                ? Expression.Constant(constant)
                : throw source.Refuse(
                    member,
                    $"'{type}.{name}' is not among what an index may "
                        + $"compute{(name is "Now" or "UtcNow" or "Today" or "NewGuid" ? ": a map is a function of its document, "
                            + "not of the time" : "")}.");
        }

        return Get(Visit(member.Expression, scope), name);
    }

    /// <summary>Returns the type that an expression names; null if it is a value.</summary>
    public static string? TypeOf(ExpressionSyntax node, Scope scope) => node switch
    {
        PredefinedTypeSyntax word => word.Keyword.ValueText,
        IdentifierNameSyntax name when scope.Find(name.Identifier.ValueText) is null && _types.Contains(TypeName(name)) =>
            TypeName(name),
        MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax { Identifier.ValueText: "System" } } member
            when _types.Contains(TypeName(member.Name)) => TypeName(member.Name),
        _ => null,
    };

    private static readonly FrozenSet<string> _types = FrozenSet.Create(
    [
        "string", "int", "long", "double", "decimal", "float", "bool", "char", "Math", "DateTime", "DateTimeOffset", "TimeSpan",
        "DateOnly", "TimeOnly",
        "Convert", "Enumerable", "Regex", "StringComparison", "StringSplitOptions", "FieldIndexing", "FieldStorage",
        "NoTracking", "Guid", "Char", "Environment",
    ]);

    private static Value? StaticMember(string type, string name) => $"{type}.{name}" switch
    {
        "string.Empty" => Value.Of(""),
        "Math.PI" => Value.Of(Math.PI),
        "Math.E" => Value.Of(Math.E),
        "int.MaxValue" => Value.Of((long)int.MaxValue),
        "int.MinValue" => Value.Of((long)int.MinValue),
        "long.MaxValue" => Value.Of(long.MaxValue),
        "long.MinValue" => Value.Of(long.MinValue),
        "decimal.MaxValue" => Value.Of(decimal.MaxValue),
        "decimal.MinValue" => Value.Of(decimal.MinValue),
        "double.MaxValue" => Value.Of(double.MaxValue),
        "double.MinValue" => Value.Of(double.MinValue),
        "DateTime.MinValue" or "DateTimeOffset.MinValue" => Value.Of(DateTime.MinValue),
        "DateTime.MaxValue" or "DateTimeOffset.MaxValue" => Value.Of(DateTime.MaxValue),
        "TimeSpan.Zero" => Value.Of(TimeSpan.Zero),
        "StringSplitOptions.None" or "StringComparison.Ordinal" or "StringComparison.InvariantCulture"
            or "StringComparison.CurrentCulture" => Value.False,
        "StringSplitOptions.RemoveEmptyEntries" or "StringComparison.OrdinalIgnoreCase"
            or "StringComparison.InvariantCultureIgnoreCase" or "StringComparison.CurrentCultureIgnoreCase" => Value.True,
        "FieldStorage.Yes" or "FieldStorage.No" or "FieldIndexing.Search" or "FieldIndexing.Exact" or "FieldIndexing.Default"
            or "FieldIndexing.No" => Value.Of(name),
        _ => null,
    };

    private ConstantExpression Literal(LiteralExpressionSyntax literal) => literal.Token.Value switch
    {
        null when literal.IsKind(SyntaxKind.NullLiteralExpression) || literal.IsKind(SyntaxKind.DefaultLiteralExpression) =>
            Expression.Constant(Value.Null),
        bool flag => Expression.Constant(Value.Of(flag)),
        string text => Expression.Constant(Value.Of(text)),
        char one => Expression.Constant(Value.Of(one.ToString())),
        decimal number => Expression.Constant(Value.Of(number)),
        float number => Expression.Constant(Value.Of((double)number)),
        double number => Expression.Constant(Value.Of(number)),
        int or uint or long => Expression.Constant(Value.Of(Convert.ToInt64(literal.Token.Value, CultureInfo.InvariantCulture))),
        _ => throw source.Refuse(literal, $"'{literal}' is no value that an index knows."),
    };

    private Expression Interpolate(InterpolatedStringExpressionSyntax text, Scope scope)
    {
        Expression made = Expression.Constant(Value.Of(""));
        foreach (InterpolatedStringContentSyntax part in text.Contents)
        {
            Expression piece = part switch
            {
                InterpolatedStringTextSyntax plain => Expression.Constant(Value.Of(plain.TextToken.ValueText)),
                InterpolationSyntax { AlignmentClause: null, FormatClause: { } format } hole =>
                    Call(
                        typeof(TextMethods), nameof(TextMethods.ToString), _run, Visit(hole.Expression, scope),
                        Expression.Constant(Value.Of(format.FormatStringToken.ValueText))),
                InterpolationSyntax { AlignmentClause: null } hole => Visit(hole.Expression, scope),
                _ => throw source.Refuse(
                    part, "a width in a text is not among what an index may compute: use PadLeft or PadRight."),
            };
            made = Call(typeof(Operators), nameof(Operators.Add), _run, made, piece);
        }

        return made;
    }

    private Expression Binary(BinaryExpressionSyntax binary, Scope scope)
    {
        switch (binary.Kind())
        {
            case SyntaxKind.LogicalAndExpression:
                return Flag(Expression.AndAlso(Test(binary.Left, scope), Test(binary.Right, scope)));
            case SyntaxKind.LogicalOrExpression:
                return Flag(Expression.OrElse(Test(binary.Left, scope), Test(binary.Right, scope)));
            case SyntaxKind.CoalesceExpression:
                return Call(
                    typeof(Operators), nameof(Operators.Coalesce), Visit(binary.Left, scope),
                    Expression.Lambda<Func<Value>>(Visit(binary.Right, scope)));
            case SyntaxKind.AsExpression:
                ParameterExpression held = Expression.Variable(typeof(Value));
                return Expression.Block(
                    [held], Expression.Assign(held, Visit(binary.Left, scope)),
                    Expression.Condition(IsOf(held, (TypeSyntax)binary.Right), held, Expression.Constant(Value.Null)));
            case SyntaxKind.IsExpression:
                return Flag(IsOf(Visit(binary.Left, scope), (TypeSyntax)binary.Right));
        }

        Expression left = Visit(binary.Left, scope), right = Visit(binary.Right, scope);
        string? method = binary.Kind() switch
        {
            SyntaxKind.SubtractExpression => nameof(Operators.Subtract),
            SyntaxKind.MultiplyExpression => nameof(Operators.Multiply),
            SyntaxKind.DivideExpression => nameof(Operators.Divide),
            SyntaxKind.ModuloExpression => nameof(Operators.Remainder),
            SyntaxKind.EqualsExpression => nameof(Operators.Equal),
            SyntaxKind.NotEqualsExpression => nameof(Operators.NotEqual),
            SyntaxKind.LessThanExpression => nameof(Operators.Less),
            SyntaxKind.LessThanOrEqualExpression => nameof(Operators.LessOrEqual),
            SyntaxKind.GreaterThanExpression => nameof(Operators.Greater),
            SyntaxKind.GreaterThanOrEqualExpression => nameof(Operators.GreaterOrEqual),
            _ => null,
        };
        if (method is not null)
            return Call(typeof(Operators), method, left, right);
        return binary.Kind() switch
        {
            SyntaxKind.AddExpression => Call(typeof(Operators), nameof(Operators.Add), _run, left, right),
            SyntaxKind.BitwiseAndExpression or SyntaxKind.BitwiseOrExpression or SyntaxKind.ExclusiveOrExpression
                or SyntaxKind.LeftShiftExpression or SyntaxKind.RightShiftExpression =>
                Call(typeof(Operators), nameof(Operators.Bits), Expression.Constant(binary.OperatorToken.ValueText), left, right),
            _ => throw source.Refuse(
                binary.OperatorToken, $"the operator '{binary.OperatorToken.ValueText}' is not among what an index may compute."),
        };
    }

    private Expression Unary(PrefixUnaryExpressionSyntax unary, Scope scope)
    {
        Expression value = Visit(unary.Operand, scope);
        return unary.Kind() switch
        {
            SyntaxKind.LogicalNotExpression => Call(typeof(Operators), nameof(Operators.Not), value),
            SyntaxKind.UnaryMinusExpression => Call(typeof(Operators), nameof(Operators.Negate), value),
            SyntaxKind.UnaryPlusExpression => value,
            _ => throw source.Refuse(
                unary, $"the operator '{unary.OperatorToken.ValueText}' is not among what an index may compute."),
        };
    }

    private BinaryExpression IsOf(Expression value, TypeSyntax type)
    {
        string name = TypeName(type);
        if (Conversions.Is(name, Value.Null) is null)
            throw source.Refuse(
                type, $"'{name}' is no kind of value; those are string, bool, int, long, double, decimal, DateTime, object.");
        return Expression.Equal(
            Expression.Convert(Call(typeof(Conversions), nameof(Conversions.Is), Expression.Constant(name), value), typeof(bool)),
            Expression.Constant(true));
    }

    private BlockExpression Pattern(Expression value, PatternSyntax pattern, Scope scope)
    {
        ParameterExpression held = Expression.Variable(typeof(Value));
        return Expression.Block([held], Expression.Assign(held, value), Flag(Match(held, pattern, scope)));
    }

    private Expression Match(Expression value, PatternSyntax pattern, Scope scope) => pattern switch
    {
        ConstantPatternSyntax constant =>
            Expression.Call(_isTrue, Call(typeof(Operators), nameof(Operators.Equal), value, Visit(constant.Expression, scope))),
        UnaryPatternSyntax not => Expression.Not(Match(value, not.Pattern, scope)),
        ParenthesizedPatternSyntax inner => Match(value, inner.Pattern, scope),
        BinaryPatternSyntax { RawKind: (int)SyntaxKind.OrPattern } either =>
            Expression.OrElse(Match(value, either.Left, scope), Match(value, either.Right, scope)),
        BinaryPatternSyntax both => Expression.AndAlso(Match(value, both.Left, scope), Match(value, both.Right, scope)),
        TypePatternSyntax type => IsOf(value, type.Type),
        RelationalPatternSyntax relation => Expression.Call(_isTrue, Call(typeof(Operators), relation.OperatorToken.Kind() switch
        {
            SyntaxKind.LessThanToken => nameof(Operators.Less),
            SyntaxKind.LessThanEqualsToken => nameof(Operators.LessOrEqual),
            SyntaxKind.GreaterThanToken => nameof(Operators.Greater),
            _ => nameof(Operators.GreaterOrEqual),
        }, value, Visit(relation.Expression, scope))),
        _ => throw source.Refuse(pattern, $"the pattern '{Short(pattern)}' is not among what an index may compute."),
    };

    private static Expression Flag(Expression condition) => Call(typeof(Operators), nameof(Operators.Flag), condition);
}
