using System.Collections;
using System.Linq.Expressions;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>Translates chains of members to document paths, with their JSON names.</summary>
internal sealed class PathTranslator(IQuerySession session, Type documentType)
{
    private readonly Dictionary<ParameterExpression, DocumentPath> _scope = [];
    private ParameterExpression? _group;

    public IQuerySession Session => session;

    /// <summary>The type of the queried documents.</summary>
    public Type DocumentType => documentType;

    /// <summary>Defines the path that a lambda parameter represents.</summary>
    public void Enter(ParameterExpression parameter, DocumentPath path) => _scope[parameter] = path;

    /// <summary>Defines a lambda parameter as the document.</summary>
    public void EnterDocument(DocumentLambda lambda) => Enter(lambda.Parameter, new DocumentPath("", documentType));

    /// <summary>Defines the parameter that represents the documents of a group.</summary>
    public void EnterGroup(ParameterExpression group)
    {
        _group = group;
        Enter(group, new DocumentPath("", documentType));
    }

    /// <summary>Returns the path that a lambda selects.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a path.</exception>
    public DocumentPath Of(DocumentLambda lambda)
    {
        EnterDocument(lambda);
        return Of(lambda.Body);
    }

    /// <summary>Returns the path that an expression selects.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a path.</exception>
    public DocumentPath Of(Expression expression) =>
        TryFind(expression) is { IsRoot: false } path
            ? path
            : throw Refusal.Of(expression, "Name a member of the document: 'x => x.City', 'x => x.Address.City'.");

    /// <summary>Returns the path that an expression selects; null if it selects none.</summary>
    public DocumentPath? TryFind(Expression expression) => expression switch
    {
        ParameterExpression parameter => _scope.GetValueOrDefault(parameter),
        GroupValue { Member: { } member } value => SumOf(member, value.Type),
        GroupValue value => new DocumentPath("count()", value.Type),
        UnaryExpression { NodeType: ExpressionType.Convert or ExpressionType.ConvertChecked or ExpressionType.TypeAs } convert
            when Keeps(convert) => TryFind(convert.Operand),
        UnaryExpression { NodeType: ExpressionType.ArrayLength } => null,
        MemberExpression member => OfMember(member),
        BinaryExpression { NodeType: ExpressionType.ArrayIndex } index => OfElement(index.Left, index.Right, index.Type),
        MethodCallExpression call => OfCall(call),
        _ => null,
    };

    /// <summary>Returns the serializer metadata of a type; null if there is none.</summary>
    public JsonTypeInfo? JsonOf(Type type) => session.Json.TryGetTypeInfo(type, out JsonTypeInfo? json) ? json : null;

    /// <summary>Returns whether values of a type are arrays in JSON.</summary>
    public bool IsArray(Type type) => JsonOf(type) is { } json
        ? json.Kind == JsonTypeInfoKind.Enumerable
        : type != typeof(string)
            && type != typeof(byte[])
            && type.IsAssignableTo(typeof(IEnumerable))
            && !type.IsAssignableTo(typeof(IDictionary));

    /// <summary>Returns whether values of a type are objects in JSON whose members are their keys.</summary>
    public bool IsDictionary(Type type) => JsonOf(type) is { Kind: JsonTypeInfoKind.Dictionary };

    /// <summary>Returns whether an expression refers to the document or an element of it.</summary>
    public bool DependsOnDocument(Expression expression) => expression switch
    {
        ConstantExpression => false,
        ParameterExpression parameter => _scope.ContainsKey(parameter),
        MemberExpression member => member.Expression is { } owner && DependsOnDocument(owner), // fast path for chains of members
        _ => Search.Any(
            expression, node => node is GroupValue || (node is ParameterExpression other && _scope.ContainsKey(other))),
    };

    /// <summary>Returns whether an expression refers to a parameter.</summary>
    public static bool DependsOn(Expression expression, ParameterExpression parameter) =>
        Search.Any(expression, node => node == parameter);

    /// <summary>Returns the type of the elements of an array.</summary>
    public Type ElementTypeOf(Type collection, Type otherwise) =>
        JsonOf(collection)?.ElementType ?? collection.GetElementType() ?? otherwise;

    /// <summary>
    /// Returns whether a conversion preserves values: to a wider number, to nullable, from an enumeration or a character to
    /// its number, to a base type.
    /// </summary>
    private static bool Keeps(UnaryExpression convert)
    {
        if (convert.Method is { } method && method.DeclaringType != typeof(decimal))
            return false;
        Type from = Nullable.GetUnderlyingType(convert.Operand.Type) ?? convert.Operand.Type,
            to = Nullable.GetUnderlyingType(convert.Type) ?? convert.Type;
        if (from == to || from.IsEnum || from == typeof(char) || !from.IsValueType || !to.IsValueType)
            return true;
        return RankOf(from) is > 0 and var rank && RankOf(to) >= rank;
    }

    private static int RankOf(Type type) => Type.GetTypeCode(type) switch
    {
        TypeCode.SByte or TypeCode.Byte => 1,
        TypeCode.Int16 or TypeCode.UInt16 => 2,
        TypeCode.Int32 => 3,
        TypeCode.UInt32 => 4,
        TypeCode.Int64 => 5,
        TypeCode.UInt64 => 6,
        TypeCode.Decimal => 7,
        TypeCode.Single => 8,
        TypeCode.Double => 9,
        _ => 0,
    };

    private DocumentPath? OfMember(MemberExpression node)
    {
        if (node.Expression is null || TryFind(node.Expression) is not { } owner)
            return null;
        if (Nullable.GetUnderlyingType(node.Expression.Type) is { } underlying)
            return node.Member.Name == "Value" ? owner with { Type = underlying } : null;
        if (JsonOf(owner.Type) is { Kind: not JsonTypeInfoKind.Object } or null && !owner.IsRoot)
            return null; // such as Count of a list or Year of a time, which JSON lacks

        string name = NameOf(node, owner.Type);
        if (owner.IsRoot && session.IdMemberOf(documentType) is { } id && id == name)
            return new DocumentPath("id()", node.Type) { IsId = true };
        return owner.Member(name, node.Type);
    }

    private string NameOf(MemberExpression node, Type owner)
    {
        JsonTypeInfo json = JsonOf(owner)
            ?? throw Refusal.Of(
                node, $"The JSON options of the session do not know the type {owner.Name}. Add it to the JsonSerializerContext.");
        return MemberNames.Of(node.Member, json) ?? throw Refusal.Of(
            node,
            $"{owner.Name}.{node.Member.Name} is not written to documents, so no query can ask for it. Store it, or ask for the "
                + "members it is computed of.");
    }

    private DocumentPath? OfCall(MethodCallExpression call)
    {
        string name = call.Method.Name;
        if (name == "get_Item" && call.Object is { } indexed && call.Arguments is [{ } key])
            return IsDictionary(indexed.Type)
                ? OfKey(indexed, key, call.Type)
                : OfElement(indexed, key, call.Type);
        if (name == "ToString"
            && call.Object is { } value
            && call.Arguments.Count == 0
            && (value.Type.IsEnum || value.Type == typeof(string)))
            return TryFind(value);
        if (name is "ToLower" or "ToUpper" or "ToLowerInvariant" or "ToUpperInvariant"
            && call.Object is { } text
            && text.Type == typeof(string))
            return TryFind(text) is { } path ? path with { IgnoresCase = true } : null;
        if (name == "GetValueOrDefault" && call.Arguments.Count == 0)
            return null;
        if (call.Method.DeclaringType != typeof(Enumerable))
            return null;

        Expression source = call.Arguments[0];
        if (source == _group)
            return OfGroup(call);
        return name switch
        {
            "First" or "FirstOrDefault" when call.Arguments.Count == 1 => OfElement(source, Expression.Constant(0), call.Type),
            "ElementAt" or "ElementAtOrDefault" => OfElement(source, call.Arguments[1], call.Type),
            "ToList" or "ToArray" or "AsEnumerable" or "ToHashSet" or "Cast" =>
                TryFind(source) is { } path ? path with { Type = call.Type } : null,
            "Select" or "SelectMany" when call.Arguments is [_, LambdaExpression { Parameters.Count: 1 } lambda] =>
                OfSelected(source, lambda, call.Type),
            _ => null,
        };
    }

    /// <summary>Translates the aggregates of a group: its count, sums, least and greatest values.</summary>
    private DocumentPath OfGroup(MethodCallExpression call)
    {
        switch (call.Method.Name)
        {
            case "Count" or "LongCount" when call.Arguments.Count == 1:
                return new DocumentPath("count()", call.Type);
            case "Sum" when call.Arguments is [_, LambdaExpression { Parameters.Count: 1 } lambda]:
                return SumOf(lambda, call.Type);
            case "Min" or "Max" when call.Arguments is [_, LambdaExpression { Parameters.Count: 1 } lambda]:
                return ExtremeOf(lambda, call);
            default:
                throw Refusal.Of(
                    call,
                    "Of a group there are Key, Count(), Sum(x => x.Member), Min(…) and Max(…) of numbers and times, and "
                        + "Average(x => x.Member) of numbers that cannot be null. For what else a group comes to, define an "
                        + "index with a reduce.");
        }
    }

    private DocumentPath SumOf(LambdaExpression member, Type type)
    {
        Enter(member.Parameters[0], new DocumentPath("", documentType));
        return new DocumentPath($"sum({RequireNumbers(Of(member.Body), member.Body).Text})", type);
    }

    /// <summary>Returns a path whose values can be summed, which are stored as numbers.</summary>
    /// <exception cref="NotSupportedException">They are stored as something else.</exception>
    public DocumentPath RequireNumbers(DocumentPath path, Expression quoted)
    {
        Type type = IsArray(path.Type) ? ElementTypeOf(path.Type, path.Type) : path.Type;
        type = Nullable.GetUnderlyingType(type) ?? type;
        return !path.IsId && (IsNumber(type) || (type.IsEnum && OrderTranslator.IsNumber(this, type)))
            ? path
            : throw Refusal.Of(
                quoted,
                "Sums and averages are of members that are stored as numbers: ids, characters and enumerations stored by name "
                    + "are texts. Store the number as a member of its own.");
    }

    private DocumentPath ExtremeOf(LambdaExpression member, MethodCallExpression call)
    {
        Enter(member.Parameters[0], new DocumentPath("", documentType));
        DocumentPath path = Of(member.Body);
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        if (path.IsId || (!IsNumber(type) && type != typeof(DateTime) && type != typeof(DateOnly) && type != typeof(TimeOnly)))
            throw Refusal.Of(
                call,
                DocumentPath.IsOffset(type)
                    ? OrderTranslator.Offsets
                    : "Least and greatest values of a group are of numbers, DateTime, DateOnly and TimeOnly, which are stored as "
                        + "what sorts as they do. Store what is to be compared as one of these.");
        return new DocumentPath($"{(call.Method.Name == "Min" ? "min" : "max")}({path.Text})", call.Type) { IsExtreme = true };
    }

    private static bool IsNumber(Type type) => !type.IsEnum && type != typeof(char) && RankOf(type) > 0;

    private DocumentPath? OfKey(Expression dictionary, Expression key, Type type)
    {
        if (DependsOnDocument(key) || TryFind(dictionary) is not { } owner)
            return null;
        object? value = Interpreter.ValueOf(key);
        return value is string or Guid or int or long or Enum
            ? owner.Member(Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture) ?? "", type)
            : null;
    }

    private DocumentPath? OfElement(Expression source, Expression index, Type type)
    {
        if (DependsOnDocument(index) || TryFind(source) is not { } owner || !IsArray(owner.Type) || IsSelected(owner))
            return null;
        return Interpreter.ValueOf(index) is int place and >= 0 ? owner.Element(place, type) : null;
    }

    /// <summary>Whether a path is that of all elements together, as Select gives it: none of them has a number there.</summary>
    public static bool IsSelected(DocumentPath array) =>
        !array.IsOfElements && array.Text.Contains("[]", StringComparison.Ordinal);

    /// <summary>Translates a projection of elements, if it is a path too.</summary>
    private DocumentPath? OfSelected(Expression source, LambdaExpression lambda, Type type)
    {
        if (TryFind(source) is not { } owner || !IsArray(owner.Type))
            return null;
        Enter(lambda.Parameters[0], owner.Elements(lambda.Parameters[0].Type));
        return TryFind(lambda.Body) is { } path ? path with { Type = type, IsOfElements = owner.IsOfElements } : null;
    }

    /// <summary>Searches for a node of an expression.</summary>
    private sealed class Search(Func<Expression, bool> isMeant) : ExpressionVisitor
    {
        private bool _found;

        public static bool Any(Expression expression, Func<Expression, bool> isMeant)
        {
            var search = new Search(isMeant);
            search.Visit(expression);
            return search._found;
        }

        public override Expression? Visit(Expression? node)
        {
            if (node is null || _found)
                return node;
            _found = isMeant(node);
            return _found ? node : base.Visit(node);
        }
    }
}
