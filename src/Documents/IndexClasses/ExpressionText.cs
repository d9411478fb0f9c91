using System.Linq.Expressions;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json.Serialization.Metadata;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie.IndexClasses;

/// <summary>
/// Converts expressions to C# text over JSON: members by their names in documents, variables by their values, and methods of
/// <see cref="IndexClass"/> by their names. The compiler of the text determines which methods are supported.
/// </summary>
internal sealed class ExpressionText(SessionOptions session)
{
    private readonly Dictionary<ParameterExpression, string> _names = [];
    private readonly Dictionary<Type, EntityType> _documents = [];
    private readonly LiteralText _literals = new(session.Json);

    /// <summary>Returns the text of a map.</summary>
    public string OfMap(LambdaExpression map)
    {
        Type type = map.Parameters[0].Type.GetGenericArguments()[0];
        string collection = type == typeof(object) ? "" : DocumentOf(type).Collection;
        return OfSequence(map, collection.Length == 0
            ? "docs"
            : IsName(collection) ? $"docs.{collection}" : $"docs[{LiteralText.Quoted(collection)}]");
    }

    /// <summary>Returns the text of a reduce.</summary>
    public string OfReduce(LambdaExpression reduce) => OfSequence(reduce, "results");

    /// <summary>Returns the JSON name of the member that a function selects.</summary>
    /// <exception cref="NotSupportedException">The function does not select a member.</exception>
    public string MemberOf(LambdaExpression function) => Plain(function.Body) is MemberExpression { Expression: { } owner } member
        ? NameOf(member.Member, owner.Type)
        : throw Refusal.Of(function, "Options are of a member: 'o => o.City'.");

    private string OfSequence(LambdaExpression function, string source)
    {
        _names[function.Parameters[0]] = source;
        return Of(function.Body);
    }

    private string Of(Expression node)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        return node switch
        {
            ParameterExpression parameter => _names.TryGetValue(parameter, out string? name)
                ? name
                : throw Refusal.Of(node, "This parameter belongs to no function of the index."),
            MethodCallExpression { Method.Name: "op_Implicit", Arguments: [{ } converted] } when node.Type.IsByRefLike =>
                Of(converted),
            NewExpression { Members: not null } made => OfNew(made),
            MemberInitExpression made => OfInitialized(made),
            _ when IsValue(node) => _literals.Of(node, Interpreter.ValueOf(node)),
            LambdaExpression lambda => OfFunction(lambda),
            UnaryExpression unary => OfUnary(unary),
            BinaryExpression binary => OfBinary(binary),
            ConditionalExpression choice => $"({Of(choice.Test)} ? {Of(choice.IfTrue)} : {Of(choice.IfFalse)})",
            MemberExpression member => OfMember(member),
            MethodCallExpression call => OfCall(call),
            NewExpression made => OfNew(made),
            NewArrayExpression { NodeType: ExpressionType.NewArrayInit } array =>
                array.Expressions.Count == 0 ? "new object[0]" : $"new[] {{ {List(array.Expressions)} }}",
            ListInitExpression list when list.Initializers.All(static item => item.Arguments.Count == 1) =>
                $"new[] {{ {List(list.Initializers.Select(static item => item.Arguments[0]))} }}",
            ListInitExpression pairs => "new Dictionary<string, object> { "
                + string.Join(", ", pairs.Initializers.Select(item => $"{{ {List(item.Arguments)} }}")) + " }",
            _ => throw Refusal.Of(node, "Indexes know members, operators, LINQ, and methods of texts, numbers and times."),
        };
    }

    private string List(IEnumerable<Expression> nodes) => string.Join(", ", nodes.Select(Of));

    /// <summary>Returns whether a node does not depend on a document, so that its value is known now.</summary>
    private static bool IsValue(Expression node) => node is not LambdaExpression && !Search.HasParameter(node);

    private string OfFunction(LambdaExpression lambda)
    {
        string[] names = [.. lambda.Parameters.Select(Name)];
        string parameters = names.Length == 1 ? names[0] : $"({string.Join(", ", names)})";
        string body = Of(lambda.Body);
        foreach (ParameterExpression parameter in lambda.Parameters)
            _names.Remove(parameter);
        return $"{parameters} => {body}";
    }

    private string Name(ParameterExpression parameter)
    {
        string name = parameter.Name is { } own && IsName(own) ? own : "it";
        while (_names.Any(known => known.Key != parameter && known.Value == name))
            name += "_";
        return _names[parameter] = name;
    }

    private string OfUnary(UnaryExpression node)
    {
        switch (node.NodeType)
        {
            case ExpressionType.Not when node.Type == typeof(bool) || node.Type == typeof(bool?):
                return $"!({Of(node.Operand)})";
            case ExpressionType.Negate or ExpressionType.NegateChecked:
                return $"-({Of(node.Operand)})";
            case ExpressionType.ArrayLength:
                return $"{Of(node.Operand)}.Length";
            case ExpressionType.Quote:
                return Of(node.Operand);
            case ExpressionType.Convert or ExpressionType.ConvertChecked or ExpressionType.TypeAs:
                return IsCut(node) ? $"(({CSharpNameOf(node.Type)}){Of(node.Operand)})" : Of(node.Operand);
            default:
                throw Refusal.Of(node, "Indexes have no such operator.");
        }
    }

    /// <summary>Returns whether a conversion changes values: from a fraction to an integer.</summary>
    private static bool IsCut(UnaryExpression node)
    {
        Type from = Nullable.GetUnderlyingType(node.Operand.Type) ?? node.Operand.Type,
            to = Nullable.GetUnderlyingType(node.Type) ?? node.Type;
        return to != from
            && Type.GetTypeCode(to) is >= TypeCode.SByte and <= TypeCode.UInt64
            && Type.GetTypeCode(from) is >= TypeCode.Single and <= TypeCode.Decimal
            && !to.IsEnum;
    }

    private string OfBinary(BinaryExpression node)
    {
        if (node.NodeType == ExpressionType.ArrayIndex)
            return $"{Of(node.Left)}[{Of(node.Right)}]";
        string? sign = node.NodeType switch
        {
            ExpressionType.Equal => "==",
            ExpressionType.NotEqual => "!=",
            ExpressionType.LessThan => "<",
            ExpressionType.LessThanOrEqual => "<=",
            ExpressionType.GreaterThan => ">",
            ExpressionType.GreaterThanOrEqual => ">=",
            ExpressionType.AndAlso => "&&",
            ExpressionType.OrElse => "||",
            ExpressionType.And when node.Type == typeof(bool) => "&&",
            ExpressionType.Or when node.Type == typeof(bool) => "||",
            ExpressionType.Add or ExpressionType.AddChecked => "+",
            ExpressionType.Subtract or ExpressionType.SubtractChecked => "-",
            ExpressionType.Multiply or ExpressionType.MultiplyChecked => "*",
            ExpressionType.Divide => "/",
            ExpressionType.Modulo => "%",
            ExpressionType.Coalesce => "??",
            _ => null,
        };
        if (sign is null)
            throw Refusal.Of(node, "Indexes have no such operator.");
        (Expression left, Expression right) = (node.Left, node.Right);
        return EnumOf(left) is { } type && IsValue(right) ? $"({Of(left)} {sign} {OfEnum(type, right)})"
            : EnumOf(right) is { } other && IsValue(left) ? $"({OfEnum(other, left)} {sign} {Of(right)})"
            : $"({Of(left)} {sign} {Of(right)})";
    }

    /// <summary>Returns the enumeration or character type that the compiler compares as a number.</summary>
    private static Type? EnumOf(Expression node)
    {
        Expression plain = Plain(node);
        Type type = Nullable.GetUnderlyingType(plain.Type) ?? plain.Type;
        return plain != node && (type.IsEnum || type == typeof(char)) && !IsValue(node) ? type : null;
    }

    private string OfEnum(Type type, Expression node) => Interpreter.ValueOf(node) switch
    {
        null => "null",
        Enum value => _literals.Of(node, value),
        var number when type == typeof(char) => _literals.Of(
            node, (char)Convert.ToInt32(number, System.Globalization.CultureInfo.InvariantCulture)),
        var number => _literals.Of(node, Enum.ToObject(type, number)),
    };

    private static Expression Plain(Expression node) =>
        node is UnaryExpression { NodeType: ExpressionType.Convert or ExpressionType.ConvertChecked } convert
            ? Plain(convert.Operand)
            : node;

    private string OfMember(MemberExpression node)
    {
        // A static member, or a member of a captured variable, is a value.
        Expression owner = node.Expression!;
        Type type = owner.Type;
        if (Nullable.GetUnderlyingType(type) is not null)
            return node.Member.Name == "Value" ? Of(owner) : $"{Of(owner)}.{node.Member.Name}";
        if (_documents.GetValueOrDefault(type)?.Id is { } id
            && Encoding.UTF8.GetString(id.Member) == MemberNames.Of(node.Member, session.Json))
            return $"Id({Of(owner)})";
        string name = NameOf(node.Member, type);
        return IsName(name) ? $"{Of(owner)}.{name}" : $"{Of(owner)}[{LiteralText.Quoted(name)}]";
    }

    /// <summary>Returns the JSON name of a member; the C# name for anything that is not a member of an object.</summary>
    private string NameOf(MemberInfo member, Type owner)
    {
        if (IsAnonymous(owner))
            return member.Name.Contains('<', StringComparison.Ordinal)
                ? string.Concat(member.Name.Where(char.IsLetterOrDigit))
                : MemberNames.Of(member, session.Json);
        return !IsObject(owner, out JsonTypeInfo? json)
            ? member.Name
            : MemberNames.Of(member, json) ?? throw new NotSupportedException(
                $"{owner.Name}.{member.Name} is not written to documents, so no index can have it. Store it, or write the "
                    + "expression that computes it into the map.");
    }

    private bool IsObject(Type type, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out JsonTypeInfo? json)
    {
        json = null;
        bool isPair = type.IsGenericType && type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>);
        return !isPair && session.Json.TryGetTypeInfo(type, out json) && json.Kind == JsonTypeInfoKind.Object;
    }

    /// <summary>Returns the information about a type of documents, whose id is not a member.</summary>
    private EntityType DocumentOf(Type type) =>
        _documents.TryGetValue(type, out EntityType? known) ? known : _documents[type] = new EntityType(type, session);

    private string OfCall(MethodCallExpression call)
    {
        MethodInfo method = call.Method;
        if (method.DeclaringType == typeof(IndexClass))
            return OfWord(call);
        if (method.Name == nameof(ToString) && call.Object is { Type.IsEnum: true } named)
            return _literals.IsText(named.Type)
                ? Of(named)
                : throw Refusal.Of(
                    call,
                    $"Documents have a number for {named.Type.Name}, unless JsonStringEnumConverter is among the JSON options.");
        if (method.Name is "get_Item" or "get_Chars" && call.Object is { } indexed)
            return $"{Of(indexed)}[{List(call.Arguments)}]";
        if (call.Object is { } self)
            return $"{Of(self)}.{method.Name}({List(call.Arguments)})";
        if (method.IsDefined(typeof(ExtensionAttribute)))
            return $"{Of(call.Arguments[0])}.{method.Name}({List(call.Arguments.Skip(1).Where(static one => !IsComparer(one)))})";
        return $"{CSharpNameOf(method.DeclaringType!)}.{method.Name}({List(call.Arguments)})"; // a method has a declaring type
    }

    /// <summary>Returns whether a node is the comparer that the compiler adds to methods on spans.</summary>
    private static bool IsComparer(Expression node) =>
        node is ConstantExpression { Value: null } or DefaultExpression
            && node.Type.Name.StartsWith("IEqualityComparer", StringComparison.Ordinal);

    private string OfWord(MethodCallExpression call) => call.Method.Name switch
    {
        "LoadDocument" => $"LoadDocument({Of(call.Arguments[0])}, "
            + $"{LiteralText.Quoted(DocumentOf(call.Method.GetGenericArguments()[0]).Collection)})",
        "Boost" => $"{Of(call.Arguments[0])}.Boost({Of(call.Arguments[1])})",
        var name => $"{name}({List(call.Arguments)})",
    };

    private string OfNew(NewExpression made)
    {
        if (made.Members is { } members)
            return Object(members.Zip(made.Arguments, (member, value) => (NameOf(member, made.Type), value)));
        if (made.Type == typeof(DateTime) || made.Type == typeof(TimeSpan))
            return $"new {made.Type.Name}({List(made.Arguments)})";
        throw Refusal.Of(
            made, "Results are objects with named members: 'new { o.City }', or 'new Result { City = o.City }'.");
    }

    private string OfInitialized(MemberInitExpression made)
    {
        if (made.NewExpression.Arguments.Count > 0
            || made.Bindings.FirstOrDefault(static binding => binding is not MemberAssignment) is not null)
            throw Refusal.Of(made, "Give each member its value: 'new Result { City = o.City }'.");
        return Object(
            made.Bindings.Cast<MemberAssignment>().Select(binding => (NameOf(binding.Member, made.Type), binding.Expression)));
    }

    private string Object(IEnumerable<(string Name, Expression Value)> members)
    {
        var text = new StringBuilder("new { ");
        string separator = "";
        foreach ((string name, Expression value) in members)
        {
            if (!IsName(name))
                throw Refusal.Of(value, $"'{name}' is no name of a field that an index class can give.");
            text.Append(separator).Append(name).Append(" = ").Append(Of(value));
            separator = ", ";
        }

        return text.Append(" }").ToString();
    }

    private static string CSharpNameOf(Type type) => Type.GetTypeCode(Nullable.GetUnderlyingType(type) ?? type) switch
    {
        TypeCode.SByte => "sbyte",
        TypeCode.Byte => "byte",
        TypeCode.Int16 => "short",
        TypeCode.UInt16 => "ushort",
        TypeCode.Int32 => "int",
        TypeCode.UInt32 => "uint",
        TypeCode.Int64 => "long",
        TypeCode.UInt64 => "ulong",
        TypeCode.Single => "float",
        TypeCode.Double => "double",
        TypeCode.Decimal => "decimal",
        TypeCode.Boolean => "bool",
        TypeCode.String => "string",
        TypeCode.Char => "char",
        _ => type.Name,
    };

    private static bool IsAnonymous(Type type) =>
        type.Name.Contains("AnonymousType", StringComparison.Ordinal) && type.IsDefined(typeof(CompilerGeneratedAttribute));

    private static bool IsName(string text) =>
        text.Length > 0
            && (char.IsLetter(text[0]) || text[0] == '_')
            && text.All(static one => char.IsLetterOrDigit(one) || one == '_')
            && !LiteralText.IsKeyword(text);

    /// <summary>Searches for parameters.</summary>
    private sealed class Search : ExpressionVisitor
    {
        private bool _found;

        public static bool HasParameter(Expression node)
        {
            var search = new Search();
            search.Visit(node);
            return search._found;
        }

        protected override Expression VisitParameter(ParameterExpression node)
        {
            _found = true;
            return node;
        }

        protected override Expression VisitMember(MemberExpression node) =>
            node.Expression is null && node.Member.Name is "Now" or "UtcNow" or "Today"
                ? throw Changes(node)
                : base.VisitMember(node);

        private static NotSupportedException Changes(Expression node) => Refusal.Of(
            node, "An index is a function of its documents: what has another value each time has no place in it.");

        // A method of index classes has no value.
        protected override Expression VisitMethodCall(MethodCallExpression node)
        {
            if (node.Method.Name is "NewGuid" or "CreateVersion7" or "Next" or "NextDouble")
                throw Changes(node);
            _found |= node.Method.DeclaringType == typeof(IndexClass);
            return _found ? node : base.VisitMethodCall(node);
        }
    }
}
