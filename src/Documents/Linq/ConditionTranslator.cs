using System.Globalization;
using System.Linq.Expressions;
using System.Runtime.CompilerServices;

namespace Treepie.Linq;

/// <summary>Translates LINQ conditions to RQL. Conditions without an equivalent are rejected.</summary>
internal sealed class ConditionTranslator
{
    /// <summary>The maximum array length in comparisons: each length needs a field of the index.</summary>
    private const int MaxCompared = 64;

    /// <summary>The greatest distance of a local time from UTC.</summary>
    private static readonly TimeSpan _mostOffset = TimeSpan.FromHours(14);

    private readonly MethodTranslator _methods;
    private readonly ComputedTranslator _computed;
    private readonly FlagsTranslator _flags;

    /// <param name="paths">Translates members.</param>
    /// <param name="parameters">Receives the values.</param>
    /// <param name="computes">Whether the index computes fields, as those that queries make do.</param>
    public ConditionTranslator(PathTranslator paths, ParameterBag parameters, bool computes)
    {
        Paths = paths;
        Parameters = parameters;
        var elements = new ElementTranslator(this);
        _computed = new ComputedTranslator(this, elements, computes);
        _flags = new FlagsTranslator(this);
        _methods = new MethodTranslator(this, elements, _computed, _flags);
    }

    public PathTranslator Paths { get; }

    public ParameterBag Parameters { get; }

    /// <summary>Whether conditions are for <c>filter</c>, which evaluates documents and their elements one by one.</summary>
    public bool IsFilter { get; private set; }

    /// <summary>Returns what a computed value is called as a field of the index; null if the index does not have it.</summary>
    public string? Computed(Expression expression) => _computed.TryFindField(expression);

    /// <summary>Translates a condition on the document.</summary>
    public Clause Of(DocumentLambda lambda)
    {
        Paths.EnterDocument(lambda);
        return Of(lambda.Body);
    }

    /// <summary>Translates a condition on the document that an index can evaluate alone.</summary>
    public Clause OnIndex(DocumentLambda lambda) =>
        Of(lambda) is var clause && clause.Check is { } check
            ? throw Refusal.Of(
                check.Quoted,
                "It is evaluated on documents, but the values counted here come from an index. Store its result as a separate "
                    + "member.")
            : clause;

    /// <summary>Translates a condition on the document for <c>filter</c>.</summary>
    public Clause OfFilter(DocumentLambda lambda) => OnDocuments(() => Of(lambda));

    /// <summary>Translates something for <c>filter</c>.</summary>
    public T OnDocuments<T>(Func<T> translate)
    {
        bool was = IsFilter;
        IsFilter = true;
        try
        {
            return translate();
        }
        finally
        {
            IsFilter = was;
        }
    }

    /// <summary>Returns a condition that is evaluated on documents.</summary>
    /// <param name="most">What an index can tell, which matches all documents that match the condition.</param>
    /// <param name="whole">Translates the condition for <c>filter</c>.</param>
    /// <param name="quoted">The condition, for error messages.</param>
    public Clause Looked(Clause most, Func<Clause> whole, Expression quoted)
    {
        Clause looked = OnDocuments(whole);
        return IsFilter ? looked : most with { Check = new ElementCheck(Clause.Never, looked, looked, quoted) };
    }

    public Clause Of(Expression expression)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (!Paths.DependsOnDocument(expression) && !MethodTranslator.IsRql(expression))
            return Clause.Of(Interpreter.ValueOf(expression) is true);
        return expression switch
        {
            BinaryExpression { NodeType: ExpressionType.AndAlso or ExpressionType.And } and =>
                Clause.And(Of(and.Left), Of(and.Right)),
            BinaryExpression { NodeType: ExpressionType.OrElse or ExpressionType.Or } or => Clause.Or(Of(or.Left), Of(or.Right)),
            UnaryExpression { NodeType: ExpressionType.Not } not => OfNegation(not.Operand),
            UnaryExpression { NodeType: ExpressionType.Convert } convert when convert.Operand.Type == typeof(bool) =>
                Of(convert.Operand),
            BinaryExpression { NodeType: >= ExpressionType.Equal } or BinaryExpression when IsComparison(expression.NodeType) =>
                OfComparison((BinaryExpression)expression),
            // not null: an instance member
            MemberExpression { Member.Name: "HasValue" } member
                when Nullable.GetUnderlyingType(member.Expression!.Type) is not null =>
                Equality(Paths.Of(member.Expression), null, isEqual: false, expression),
            _ when expression.Type == typeof(bool) && DefaultedMember.Of(expression) is { } defaulted =>
                Of(defaulted.With(operand => operand)),
            MethodCallExpression call => _methods.Of(call),
            ConditionalExpression choice => Clause.Or(
                Clause.And(Of(choice.Test), Of(choice.IfTrue)), Clause.And(Clause.Not(Of(choice.Test)), Of(choice.IfFalse))),
            _ when Paths.TryFind(expression) is { } path
                && (Nullable.GetUnderlyingType(path.Type) ?? path.Type) == typeof(bool) => Equality(
                    path, true, isEqual: true, expression),
            TypeBinaryExpression => throw Refusal.Of(
                expression, "Ask for the derived type's discriminator, a member of your own such as 'x.Kind == \"dog\"'."),
            _ => throw Refusal.Of(
                expression,
                "Write a comparison, a call of a string or collection method, or one of RqlMethods; filter the rest after "
                    + "ToListAsync()."),
        };
    }

    /// <summary>Translates an equality comparison of a path with a value.</summary>
    public Clause Equality(DocumentPath path, object? value, bool isEqual, Expression quoted)
    {
        if (path.IsId)
            return OfId(path, value, isEqual);
        // the member is folded to one case, so a mixed-case text cannot equal it
        if (path.IgnoresCase && value is string text && text.Any(char.IsLower) && text.Any(char.IsUpper))
            return Clause.Of(!isEqual);
        if (path is { IsOfElements: true } && !isEqual)
            return Different(path, value, quoted);
        if (value is double wide && SingleNumber.IsOf(path.Type))
        {
            if (!SingleNumber.IsExact(wide))
                return Clause.Of(!isEqual);
            value = (float)wide;
        }

        Clause clause = new($"{path.Compared} {(isEqual ? "=" : "!=")} {Parameters.Add(Typed(path, value))}");
        return value is null ? OnElements(path, clause, quoted) : Cased(path, clause);
    }

    /// <summary>Makes a condition on characters case-sensitive, as their comparison in C# is.</summary>
    public static Clause Cased(DocumentPath path, Clause clause) => IsCharacter(path) ? MethodTranslator.Exact(clause) : clause;

    private static bool IsCharacter(DocumentPath path) => (Nullable.GetUnderlyingType(path.Type) ?? path.Type) == typeof(char);

    /// <summary>
    /// Converts a value to the type of the member: the compiler compares enumerations and characters as numbers.
    /// </summary>
    public static object? Typed(DocumentPath path, object? value)
    {
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        if (type == typeof(char) && value is int sign)
            return (char)sign;
        return value is not null and not Enum && type.IsEnum && value is IConvertible and not string
            ? Enum.ToObject(type, value)
            : value;
    }

    /// <summary>Translates membership in a list of values.</summary>
    public Clause In(DocumentPath path, System.Collections.IEnumerable values, Expression quoted)
    {
        object?[] list = [
            .. values.Cast<object?>()
                .Where(value => value is not double wide || !SingleNumber.IsOf(path.Type) || SingleNumber.IsExact(wide))
                .Select(value => value is double wide && SingleNumber.IsOf(path.Type) ? (float)wide : value)
                .Select(value => path.IsId ? Paths.Session.IdOf(Paths.DocumentType, value) : Typed(path, value))];
        if (path is { IsId: true } && Array.Exists(list, id => id is null))
            list = [.. list.Where(id => id is not null)];
        if (list.Length == 0)
            return Clause.Never;
        Clause clause = Cased(path, new Clause($"{path.Compared} in ({Parameters.Add(list)})"));
        return list.Contains(null) ? OnElements(path, clause, quoted) : clause;
    }

    /// <summary>
    /// Marks a condition that null fulfills: an index finds null in arrays without elements too, so elements must be examined.
    /// </summary>
    private Clause OnElements(DocumentPath path, Clause clause, Expression quoted) =>
        path.IsOfElements && !IsFilter
            ? clause with { Check = new ElementCheck(Clause.Never, Clause.Always, Clause.Always, quoted) }
            : clause;

    /// <summary>Translates a minimum number of elements of an array.</summary>
    public static Clause HasAtLeast(DocumentPath path, long count, Expression quoted)
    {
        if (count <= 0)
            return Clause.Always;
        if (count > MaxCompared)
            throw Refusal.Of(
                quoted,
                $"The length of an array is compared with numbers up to {MaxCompared}. Store the length as a member of its own.");
        return new Clause(string.Create(CultureInfo.InvariantCulture, $"exists({path.Text}[{count - 1}])"));
    }

    /// <summary>Rejects counting the results of Select or SelectMany: only the length of each single array is known.</summary>
    public static void RequireOneArray(DocumentPath array, Expression quoted)
    {
        if (PathTranslator.IsSelected(array))
            throw Refusal.Of(
                quoted,
                "Elements are counted of one array, 'x.List.Count > 2' or 'x.List.Any(e => e.Inner.Count > 2)'. Store "
                    + "their number as a member of its own.");
    }

    /// <summary>Returns the path of the array if an expression is the length of an array of the document.</summary>
    public DocumentPath? LengthOf(Expression expression)
    {
        Expression? source = expression switch
        {
            UnaryExpression { NodeType: ExpressionType.ArrayLength } length => length.Operand,
            MemberExpression { Member.Name: "Count" or "Length" } member => member.Expression,
            MethodCallExpression { Method.Name: "Count" or "LongCount", Arguments: [{ } counted] } call
                when call.Method.DeclaringType == typeof(Enumerable) => counted,
            UnaryExpression { NodeType: ExpressionType.Convert } convert =>
                LengthOf(convert.Operand) is not null ? convert.Operand : null,
            _ => null,
        };
        if (expression is UnaryExpression { NodeType: ExpressionType.Convert } && source is not null)
            return LengthOf(source);
        return source is not null && Paths.TryFind(source) is { IsRoot: false } path && Paths.IsArray(path.Type) ? path : null;
    }

    private Clause OfNegation(Expression operand) =>
        operand is UnaryExpression { NodeType: ExpressionType.Not } twice ? Of(twice.Operand)
        : Paths.TryFind(operand) is { IsOfElements: true } element && element.Type == typeof(bool)
        ? Equality(element, false, isEqual: true, operand)
            : Clause.Not(Of(operand));

    private static bool IsComparison(ExpressionType type) =>
        type is ExpressionType.Equal or ExpressionType.NotEqual or ExpressionType.LessThan or ExpressionType.LessThanOrEqual
            or ExpressionType.GreaterThan or ExpressionType.GreaterThanOrEqual;

    private static ExpressionType Mirrored(ExpressionType type) => type switch
    {
        ExpressionType.LessThan => ExpressionType.GreaterThan,
        ExpressionType.LessThanOrEqual => ExpressionType.GreaterThanOrEqual,
        ExpressionType.GreaterThan => ExpressionType.LessThan,
        ExpressionType.GreaterThanOrEqual => ExpressionType.LessThanOrEqual,
        _ => type,
    };

    private Clause OfComparison(BinaryExpression node)
    {
        (Expression left, Expression right, ExpressionType type) = (node.Left, node.Right, node.NodeType);
        if (!Paths.DependsOnDocument(left))
            (left, right, type) = (right, left, Mirrored(type));
        if (Paths.DependsOnDocument(right))
            return Looked(Clause.Always, () => OfMembers(left, right, type, node), node);

        object? value = Interpreter.ValueOf(right);
        bool isEquality = type is ExpressionType.Equal or ExpressionType.NotEqual;
        if (MethodTranslator.Compared(left) is { } compared && value is int zero && zero == 0)
        {
            Clause order = OfCompareTo(compared.Subject, compared.With, type, node);
            return compared.IsOrdinal ? MethodTranslator.Exact(order) : order;
        }

        if (DefaultedMember.Of(left) is { } defaulted)
            return Of(defaulted.With(operand => Expression.MakeBinary(type, operand, right)));
        if (LengthOf(left) is { } array && value is not null
            && Convert.ToInt64(value, CultureInfo.InvariantCulture) is < MaxCompared and var length)
            return OfLength(array, length, type, node);
        if (left is MemberExpression { Member.Name: "UtcDateTime", Expression: { } moment } && value is DateTime time
            && DocumentPath.IsOffset(moment.Type))
            (left, value) = (moment, new DateTimeOffset(DateTime.SpecifyKind(time, DateTimeKind.Utc)));
        if (Paths.TryFind(left) is { IsRoot: false } path)
            return isEquality ? Equality(path, value, type == ExpressionType.Equal, node) : Range(path, type, value, node);
        if (OfYear(left, type, value, node) is { } year)
            return year;
        if (isEquality && value is bool truth && (Nullable.GetUnderlyingType(left.Type) ?? left.Type) == typeof(bool))
            return (type == ExpressionType.Equal) == truth ? Of(left) : Clause.Not(Of(left));
        return _computed.TryCompareCount(left, type, value, SignOf(type), node)
            ?? _computed.TryCompare(left, SignOf(type), value, node)
            ?? (isEquality ? _flags.TryOf(node) : null)
            ?? throw Refusal.Of(
                node,
                Unconverted(left) is MemberExpression { Expression.Type: var of }
                    && (ComputedTranslator.IsTime(of) || of == typeof(TimeSpan))
                    ? "Of a time, conditions know Year, Month, Day, DayOfWeek, Hour, Minute, Second and Date. Write a range of "
                        + "times, 'x.At >= from && x.At < to', or store what else is to be asked as a member of its own."
                    : "An index has the members as they are stored, not what is computed of them. Store the result as a member "
                        + "of its own, or compare the members themselves.");
    }

    /// <summary>Translates the comparison of two members of one document.</summary>
    private Clause OfMembers(Expression left, Expression right, ExpressionType type, BinaryExpression node)
    {
        if ((_computed.TryFind(left), _computed.TryFind(right)) is var (one, other) && (one ?? other) is not null)
            return new Clause($"{one ?? Paths.Of(left).Compared} {SignOf(type)} {other ?? Paths.Of(right).Compared}");
        (DocumentPath first, DocumentPath second) = (Paths.Of(left), Paths.Of(right));
        Type of = Nullable.GetUnderlyingType(first.Type) ?? first.Type;
        bool isEquality = type is ExpressionType.Equal or ExpressionType.NotEqual;
        if (Paths.IsArray(first.Type) || Paths.IsArray(second.Type) || (first.IsId && first.Type != typeof(string))
            || (second.IsId && second.Type != typeof(string))
            || IsCharacter(first) != IsCharacter(second)
            || (!isEquality && (of.IsEnum || of == typeof(TimeSpan) || of == typeof(bool))))
            throw Refusal.Of(node, "Of two members numbers, texts and times are compared. Store what else it comes to.");
        return Cased(first, new Clause($"{first.Compared} {SignOf(type)} {second.Compared}"));
    }

    private static string SignOf(ExpressionType type) => type switch
    {
        ExpressionType.Equal => "=",
        ExpressionType.NotEqual => "!=",
        ExpressionType.LessThan => "<",
        ExpressionType.LessThanOrEqual => "<=",
        ExpressionType.GreaterThan => ">",
        _ => ">=",
    };

    private static Expression Unconverted(Expression expression) =>
        expression is UnaryExpression { NodeType: ExpressionType.Convert } convert ? convert.Operand : expression;

    private Clause OfCompareTo(Expression subject, Expression with, ExpressionType type, BinaryExpression node)
    {
        if (!Paths.DependsOnDocument(subject))
            (subject, with, type) = (with, subject, Mirrored(type));
        if (Paths.DependsOnDocument(with))
            return Looked(Clause.Always, () => OfMembers(subject, with, type, node), node);
        DocumentPath path = Paths.Of(subject);
        object? value = Interpreter.ValueOf(with);
        return type is ExpressionType.Equal or ExpressionType.NotEqual
            ? Equality(path, value, type == ExpressionType.Equal, node)
            : Range(path, type, value, node);
    }

    private static Clause OfLength(DocumentPath array, long count, ExpressionType type, Expression node)
    {
        RequireOneArray(array, node);
        Clause clause = type switch
        {
            ExpressionType.GreaterThan => HasAtLeast(array, count + 1, node),
            ExpressionType.GreaterThanOrEqual => HasAtLeast(array, count, node),
            ExpressionType.LessThan => Clause.Not(HasAtLeast(array, count, node)),
            ExpressionType.LessThanOrEqual => Clause.Not(HasAtLeast(array, count + 1, node)),
            ExpressionType.Equal => Clause.And(HasAtLeast(array, count, node), Clause.Not(HasAtLeast(array, count + 1, node))),
            _ => Clause.Or(Clause.Not(HasAtLeast(array, count, node)), HasAtLeast(array, count + 1, node)),
        };
        return array.IsOfElements && clause.Kind != ClauseKind.Single
            ? throw Refusal.Of(node, ElementTranslator.OneConditionEach)
            : clause;
    }

    private Clause Range(DocumentPath path, ExpressionType type, object? value, Expression quoted)
    {
        Type kind = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        if (path.IsId)
            throw Refusal.Of(
                quoted, "Ids are compared with '==', Contains and StartsWith. Keep a number to compare in a member of its own.");
        if (value is null)
            return Clause.Never; // nothing is less or greater than null
        if (kind.IsEnum)
            return EnumRange(path, kind, type, value, quoted);
        if (kind == typeof(TimeSpan))
            throw Refusal.Of(quoted, OrderTranslator.Durations);
        if (kind == typeof(bool))
            throw Refusal.Of(quoted, "Booleans have no order: compare them with '=='.");
        if (value is double wide && kind == typeof(float))
            (type, value) = SingleNumber.Bound(type, wide);
        return Cased(path, new Clause($"{path.Compared} {SignOf(type)} {Parameters.Add(Typed(path, value))}"));
    }

    /// <summary>
    /// Translates a range of an enumeration. Names sort differently than the values, so they are listed; values without a name
    /// are stored as numbers in any case.
    /// </summary>
    private Clause EnumRange(DocumentPath path, Type kind, ExpressionType type, object value, Expression quoted)
    {
        var numbers = new Clause($"{path.Text} {SignOf(type)} {Parameters.Add(Number(value))}");
        if (OrderTranslator.IsNumber(Paths, kind))
            return Cased(path, numbers);
        if (kind.IsDefined(typeof(FlagsAttribute), inherit: false))
            throw Refusal.Of(
                quoted,
                "Flags are stored by name, in which combinations have no order and no parts. Compare with '==' or Contains of "
                    + "the combinations, keep the flags in a list, or store enumerations as numbers (DatabaseOptions.Json).");
        return Clause.Or(In(path, Ordered(kind, type, value), quoted), Cased(path, numbers));
    }

    /// <summary>
    /// Returns the values of an enumeration with the specified relation to one of them: documents may store them by name, which
    /// sorts differently.
    /// </summary>
    private static List<object> Ordered(Type type, ExpressionType comparison, object value)
    {
        decimal limit = Number(value);
        var values = new List<object>();
        foreach (object each in ValuesOf(type))
        {
            decimal number = Number(each);
            bool fits = comparison switch
            {
                ExpressionType.LessThan => number < limit,
                ExpressionType.LessThanOrEqual => number <= limit,
                ExpressionType.GreaterThan => number > limit,
                _ => number >= limit,
            };
            if (fits)
                values.Add(each);
        }

        return values;
    }

    /// <summary>Returns the values that an enumeration has names for.</summary>
    public static IEnumerable<object> ValuesOf(Type type) =>
        Enum.GetValuesAsUnderlyingType(type).Cast<object>().Select(each => Enum.ToObject(type, each));

    private static decimal Number(object value) => Convert.ToDecimal(
        value is Enum ? Convert.ChangeType(value, Enum.GetUnderlyingType(value.GetType()), CultureInfo.InvariantCulture) : value,
        CultureInfo.InvariantCulture);

    private Clause OfId(DocumentPath path, object? value, bool isEqual)
    {
        if (value is not null && Paths.Session.IdOf(Paths.DocumentType, value) is { } id)
            return new Clause($"{path.Text} {(isEqual ? "=" : "!=")} {Parameters.Add(id)}");
        return Clause.Of(!isEqual); // every document has an id
    }

    /// <summary>
    /// Translates that some element differs from a value. An index can only tell that no element equals it, so the condition
    /// searches for smaller and greater values.
    /// </summary>
    private Clause Different(DocumentPath path, object? value, Expression quoted)
    {
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        if (value is bool truth && path.Type == typeof(bool))
            return Equality(path, !truth, isEqual: true, quoted);
        if (value is null || !path.Type.IsValueType || type != path.Type || type == typeof(Guid))
            throw Refusal.Of(
                quoted,
                "An index can tell whether no element has a value, but not whether some element has another one. Write "
                    + "'!x.List.Any(e => e.Member == value)' if none may have it.");
        if (type.IsEnum)
            return Clause.Or(
                EnumRange(path, type, ExpressionType.LessThan, value, quoted),
                EnumRange(path, type, ExpressionType.GreaterThan, value, quoted));
        if (type == typeof(float))
            return Clause.Or(
                Range(path, ExpressionType.LessThan, value, quoted), Range(path, ExpressionType.GreaterThan, value, quoted));
        string name = Parameters.Add(Typed(path, value));
        return Clause.Or(
            Cased(path, new Clause($"{path.Compared} < {name}")), Cased(path, new Clause($"{path.Compared} > {name}")));
    }

    /// <summary>Translates a comparison with the year or day of a time to a range of times.</summary>
    private Clause? OfYear(Expression left, ExpressionType type, object? value, Expression node)
    {
        if (left is not MemberExpression { Expression: { } moment, Member.Name: "Year" or "Date" } part
            || (moment.Type != typeof(DateTime) && moment.Type != typeof(DateOnly) && !DocumentPath.IsOffset(moment.Type))
            || Paths.TryFind(moment) is not { IsRoot: false } path)
            return null;
        (DateTime from, DateTime to) = (part.Member.Name, value) switch
        {
            ("Year", int and >= 1 and < 9999 and var year) => (new DateTime(year, 1, 1), new DateTime(year + 1, 1, 1)),
            ("Date", DateTime day)
                when day.TimeOfDay == TimeSpan.Zero && day.Date < DateTime.MaxValue.Date => (
                    DateTime.SpecifyKind(day, DateTimeKind.Unspecified),
                    DateTime.SpecifyKind(day.AddDays(1), DateTimeKind.Unspecified)),
            _ => throw Refusal.Of(node, "Compare with a year from 1 to 9998, or with a day without a time."),
        };
        if (DocumentPath.IsOffset(moment.Type))
            return _computed.TryCompare(left, SignOf(type), value, node, () => Near(path, type, from, to, node));
        bool isDay = moment.Type == typeof(DateOnly);
        Clause Stands(ExpressionType sign, DateTime time) =>
            Range(path, sign, isDay ? DateOnly.FromDateTime(time) : time, node);
        Clause begins = Stands(ExpressionType.GreaterThanOrEqual, from),
            begun = Stands(ExpressionType.LessThan, from);
        return type switch
        {
            ExpressionType.Equal when !path.IsOfElements => Clause.And(begins, Stands(ExpressionType.LessThan, to)),
            ExpressionType.NotEqual when !path.IsOfElements =>
                Clause.Not(Clause.And(begins, Stands(ExpressionType.LessThan, to))),
            ExpressionType.LessThan => begun,
            ExpressionType.GreaterThanOrEqual => begins,
            ExpressionType.LessThanOrEqual => Stands(ExpressionType.LessThan, to),
            ExpressionType.GreaterThan => Stands(ExpressionType.GreaterThanOrEqual, to),
            _ => throw Refusal.Of(node, ElementTranslator.OneConditionEach),
        };
    }

    /// <summary>
    /// Translates that a moment is in a range of local times in some offset: what an index of moments can tell of them.
    /// </summary>
    private Clause Near(DocumentPath path, ExpressionType type, DateTime from, DateTime to, Expression node)
    {
        if (from - DateTime.MinValue < _mostOffset || DateTime.MaxValue - to < _mostOffset)
            return Clause.Always;
        Clause After(DateTime time) => Range(
            path, ExpressionType.GreaterThanOrEqual, new DateTimeOffset(time - _mostOffset, TimeSpan.Zero), node);
        Clause Before(DateTime time) => Range(
            path, ExpressionType.LessThan, new DateTimeOffset(time + _mostOffset, TimeSpan.Zero), node);
        return type switch
        {
            ExpressionType.Equal => Clause.And(After(from), Before(to)),
            ExpressionType.LessThan => Before(from),
            ExpressionType.LessThanOrEqual => Before(to),
            ExpressionType.GreaterThan => After(to),
            ExpressionType.GreaterThanOrEqual => After(from),
            _ => Clause.Always,
        };
    }
}
