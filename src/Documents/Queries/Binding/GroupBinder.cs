using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Binds GROUP BY: extracts the group definition and rewrites the rest of the query to one over groups, in which keys,
/// <c>count()</c>, <c>sum(…)</c>, <c>min(…)</c> and <c>max(…)</c> are ordinary fields. Later stages need not know about groups.
/// </summary>
internal sealed class GroupBinder
{
    private readonly RqlQuery _query;
    private readonly FieldBinder _fields;
    private readonly List<GroupKey> _keys = [];
    private readonly Dictionary<string, GroupKey> _byName = new(StringComparer.Ordinal);
    private readonly List<GroupAggregate> _aggregates = [];

    private GroupBinder(RqlQuery query)
    {
        _query = query;
        _fields = new FieldBinder(query);
    }

    /// <summary>Returns the query over groups and the definition of the groups' index.</summary>
    public static (RqlQuery Query, GroupDefinition Definition) Bind(RqlQuery query) => new GroupBinder(query).Bind();

    private (RqlQuery Query, GroupDefinition Definition) Bind()
    {
        if (_query.From.IsIndex)
            throw Error(
                _query.GroupBy[0].Value,
                "'group by' makes an index of groups itself and goes with a collection: from Orders group by …. An index with a "
                    + "reduce is asked without it.");
        if (_query.GroupBy.Count > GroupDefinition.MaxKeys)
            throw Error(
                _query.GroupBy[GroupDefinition.MaxKeys].Value, $"'group by' takes {GroupDefinition.MaxKeys} keys at the most.");
        foreach (AliasedExpression key in _query.GroupBy)
            AddKey(key);

        RqlQuery query = _query with
        {
            GroupBy = [],
            Where = _query.Where is null ? null : OverGroups(_query.Where),
            OrderBy = [.. _query.OrderBy.Select(OverGroups)],
            Load = [.. _query.Load.Select(load => load with { Source = OverGroups(load.Source) })],
            Filter = _query.Filter is null ? null : OverGroups(_query.Filter),
            Select = SelectOverGroups(),
            GroupKeys = [.. _byName.Select(static pair => new GroupKeyName(pair.Key, pair.Value.Member))],
        };
        return (query, new GroupDefinition(_query.From.Name, _keys, _aggregates, []));
    }

    private void AddKey(AliasedExpression key)
    {
        GroupKey added = key.Value switch
        {
            PathExpression or LiteralExpression { Kind: LiteralKind.String } => new GroupKey(PathOf(key.Value)),
            MethodExpression { Arguments: [{ } only] } method when method.Is("array") => ContentOf(PathOf(only.Value)),
            MethodExpression method => throw Error(
                method,
                $"'{method.Name}()' is no key of 'group by': there are fields, fields of arrays (Lines[].Product), and array(…) "
                    + "of these. To group by a computed value, define an index whose map computes it: Maps [from o in "
                    + "docs.Orders select new { Year = o.At.Year, Count = 1 }], Reduce from r in results group r by r.Year into "
                    + "g select new { Year = g.Key, Count = g.Sum(r => r.Count) }."),
            _ => throw Error(key.Value, "Expected a field to group by."),
        };
        if (!_byName.TryAdd(added.Name, added))
            throw Error(key.Value, $"'{added.Name}' is given twice in 'group by'.");
        if (key.Alias is { } alias && alias != added.Name && !_byName.TryAdd(alias, added))
            throw Error(key.Value, $"'{alias}' names two keys of 'group by'.");
        if (key.Value is MethodExpression { Arguments: [{ Value: var array }] })
        {
            string path = PathOf(array);
            _byName.TryAdd($"array({path})", added); // as it is written
            if (path.EndsWith("[]", StringComparison.Ordinal))
                _byName.TryAdd($"array({path[..^2]})", added); // array(Tags) is array(Tags[])
        }

        _keys.Add(added);
    }

    /// <summary>The content of an array: <c>array(Tags)</c> is <c>array(Tags[])</c>.</summary>
    private static GroupKey ContentOf(string path) =>
        new(path.Contains('[', StringComparison.Ordinal) ? path : $"{path}[]", IsContent: true);

    private string PathOf(Expression expression) => expression switch
    {
        PathExpression path => _fields.Path(path).Text,
        LiteralExpression { Kind: LiteralKind.String } literal => _fields.Path(literal.Text, literal.Position).Text,
        _ => throw Error(expression, "Expected a field."),
    };

    private OrderKey OverGroups(OrderKey key)
    {
        if (key.Value is MethodExpression method
            && IsAggregate(method)
            && !method.Is("key")
            && key.Type == OrderType.Default)
            throw Error(
                method,
                $"Say as what '{method.Name}()' is compared: order by {method.Name}({(method.Is("count") ? "" : "…")}) as "
                    + $"{(method.Is("count") ? "long" : "double")}{(method.Is("min") || method.Is("max") ? " or string" : "")}.");
        return key with { Value = OverGroups(key.Value) };
    }

    /// <summary>
    /// Rewrites an expression to one over groups: names of keys and aggregates become the group members that hold them.
    /// </summary>
    private Expression OverGroups(Expression expression) => expression switch
    {
        PathExpression or LiteralExpression { Kind: LiteralKind.String } when KeyOf(expression) is { } key =>
            Member(expression, key.Member),
        PathExpression path when IsLoaded(path) => path,
        PathExpression path when !IsWord(path) => throw NoKey(path, PathOf(path)),
        MethodExpression method when _query.Declares(method) => CallOverGroups(method),
        MethodExpression method when method.Is("id") =>
            throw Error(method, "Groups have no id: 'id()' does not go with 'group by'."),
        MethodExpression method when IsAggregate(method) => Member(method, GroupKey.MemberOf(Aggregate(method))),
        MethodExpression method when ArrayOf(method) is { } array => Member(method, array.Member),
        MethodExpression method => method with
        {
            Arguments = [
                .. method.Arguments.Select(
                    (argument, i) => i == 0 || IsCondition(argument.Value)
                        ? argument with { Value = OverGroups(argument.Value) }
                        : argument)]
        },
        CompareExpression compare =>
            compare with { Left = OverGroups(compare.Left), Right = ValueOverGroups(compare.Right) },
        BetweenExpression between => between with { Operand = OverGroups(between.Operand) },
        InExpression list => list with { Operand = OverGroups(list.Operand) },
        AndExpression and => and with { Clauses = [.. and.Clauses.Select(OverGroups)] },
        OrExpression or => or with { Clauses = [.. or.Clauses.Select(OverGroups)] },
        NotExpression not => not with { Clause = OverGroups(not.Clause) },
        _ => expression,
    };

    /// <summary>
    /// Rewrites a facet. Behind what it counts, <c>sum(Freight)</c> adds up the sums of the groups, and <c>sum(count())</c> their
    /// counts.
    /// </summary>
    private MethodExpression FacetOverGroups(MethodExpression facet)
    {
        var counted = (MethodExpression)OverGroups(facet with { Arguments = [.. facet.Arguments.Take(1)] });
        return facet with { Arguments = [.. counted.Arguments, .. facet.Arguments.Skip(1).Select(Argument)] };

        MethodArgument Argument(MethodArgument argument) => argument.Value switch
        {
            MethodExpression { Arguments: [{ Value: var of }] } sum when FacetBinder.IsSum(sum) => argument with
            {
                Value = sum with
                {
                    Arguments = [
                        new MethodArgument(
                            of is PathExpression path && KeyOf(path) is null && KindOf(sum) is not null
                                ? OverGroups(sum)
                                : OverGroups(of),
                            null)]
                },
            },
            var other when IsCondition(other) => argument with { Value = OverGroups(other) },
            _ => argument,
        };
    }

    /// <summary>Rewrites what may be a member of the group, and leaves values as they are.</summary>
    private Expression ValueOverGroups(Expression expression) =>
        expression is PathExpression
            || (expression is MethodExpression method
                && (IsAggregate(method) || _query.Declares(method) || FilterFunctions.Knows(method.Name)))
            ? OverGroups(expression)
            : expression;

    /// <summary>Rewrites a call of a declared function, which can be given the group itself.</summary>
    private MethodExpression CallOverGroups(MethodExpression call) => call with
    {
        Arguments = [
            .. call.Arguments.Select(
                argument => IsGroup(argument.Value) ? argument : argument with { Value = ValueOverGroups(argument.Value) })]
    };

    /// <summary>Whether an expression is the alias of the query alone.</summary>
    private bool IsGroup(Expression expression) =>
        expression is PathExpression { Segments: [{ Elements.Count: 0 } only] } && only.Name == _query.From.Alias;

    /// <summary>Whether a path begins with the name of a loaded document.</summary>
    private bool IsLoaded(PathExpression path) => _query.Load.Any(load => load.Alias == path.Segments[0].Name);

    private static bool IsCondition(Expression expression) =>
        expression is MethodExpression or CompareExpression or BetweenExpression or InExpression or AndExpression or OrExpression
            or NotExpression;

    /// <summary>Whether a path is a keyword rather than a field: the operator of <c>search()</c>.</summary>
    private static bool IsWord(PathExpression path) =>
        path.Segments is [{ Name: { } name, Quoted: false }] && (RqlKeywords.Is(name, "and") || RqlKeywords.Is(name, "or"));

    /// <summary>Returns the key that is the whole content of an array, or null if the call is none.</summary>
    private GroupKey? ArrayOf(MethodExpression method) =>
        method.Is("array") && method.Arguments is [{ } only]
            ? _byName.GetValueOrDefault($"array({PathOf(only.Value)})")
            : null;

    private bool IsAggregate(MethodExpression method) =>
        (method.Is("count") && !IsOfKey(method)) || method.Is("key") || KindOf(method) is not null;

    /// <summary>Whether a function is of one key: <c>count(Lines)</c> of the elements of a key that is an array.</summary>
    private bool IsOfKey(MethodExpression method) =>
        method.Arguments is [{ Value: var of, Alias: null }]
        && (KeyOf(of) is not null || (of is MethodExpression array && ArrayOf(array) is not null));

    private static GroupAggregateKind? KindOf(MethodExpression method)
    {
        foreach (GroupAggregateKind kind in Enum.GetValues<GroupAggregateKind>())
            if (method.Is(GroupAggregate.WordOf(kind)))
                return kind;
        return null;
    }

    /// <summary>Returns the name of the field that holds an aggregate.</summary>
    private string Aggregate(MethodExpression method)
    {
        if (method.Is("count"))
            return method.Arguments.Count == 0
                ? GroupDefinition.Count
                : throw Error(
                    method,
                    "'count()' counts the documents of a group and takes no field; of a key it counts the elements: group by "
                        + "array(Lines) where count(Lines) > 1.");
        if (method.Is("key"))
        {
            if (method.Arguments.Count > 0)
                throw Error(method, "'key()' is the whole key of a group and takes no field.");
            return _keys is [{ } only] ? only.Name : GroupDefinition.WholeKey;
        }

        // not null: checked by IsAggregate
        GroupAggregateKind kind = KindOf(method)!.Value;
        if (method.Arguments is not [{ Value: { } operand }])
            throw Error(method, $"'{method.Name}()' takes a field: {method.Name}(Freight).");
        var aggregate = new GroupAggregate(kind, PathOf(operand));
        if (!_aggregates.Contains(aggregate))
            _aggregates.Add(aggregate);
        return _aggregates.Count <= GroupDefinition.MaxAggregates
            ? aggregate.Name
            : throw Error(
                method, $"A query with 'group by' takes {GroupDefinition.MaxAggregates} of sum(), min() and max() at the most.");
    }

    /// <summary>
    /// Returns the member of groups that a call in a script stands for: of <c>count()</c>, <c>key()</c>, and of <c>sum</c>,
    /// <c>min</c>, <c>max</c> and <c>array</c> of a path. Returns null for any other.
    /// </summary>
    /// <param name="name">The function.</param>
    /// <param name="argument">What stands between its parentheses.</param>
    /// <param name="position">The position of the call in the query.</param>
    public string? MemberOfCall(string name, string argument, int position)
    {
        if (_query.Declarations.Any(one => one.Name == name))
            return null;
        string prefix = _query.From.Alias + ".";
        if (_query.From.Alias is not null && argument.StartsWith(prefix, StringComparison.Ordinal))
            argument = argument[prefix.Length..];
        var path = new LiteralExpression(position, LiteralKind.String, argument);
        var method = new MethodExpression(position, name, argument.Length == 0 ? [] : [new MethodArgument(path, null)]);
        if (name == "array")
            return _byName.GetValueOrDefault($"array({argument})")?.Member;
        bool isPlain = name is "count" or "key";
        return (isPlain && argument.Length == 0)
            || (!isPlain
                && KindOf(method) is not null
                && argument.All(static one => char.IsLetterOrDigit(one) || one is '_' or '@' or '.' or '[' or ']')
                && FieldPath.TryParse(argument) is not null)
                ? GroupKey.MemberOf(Aggregate(method))
                : null;
    }

    private GroupKey? KeyOf(Expression expression)
    {
        string? text = expression switch
        {
            PathExpression path => Text(path),
            LiteralExpression literal => literal.Text,
            _ => null,
        };
        return text is null ? null : _byName.GetValueOrDefault(text) ?? _byName.GetValueOrDefault($"array({text})");
    }

    private string? Text(PathExpression path) =>
        path.Segments is [{ } only] && only.Name == _query.From.Alias ? null : _fields.Path(path).Text;

    private SelectClause? SelectOverGroups()
    {
        if (_query.Select is { Script: null, Items.Count: > 0 } select)
            return select with { Items = [.. select.Items.Select(SelectItem)] };
        if (_query.Select is { Script: { } script } computed)
            return computed with { Script = GroupScript.Of(script, this) };

        // Without SELECT, return all members of a group.
        var items = new List<AliasedExpression>();
        foreach (GroupKey key in _keys)
            items.Add(new AliasedExpression(Member(_query.GroupBy[0].Value, key.Member), key.Name));
        items.Add(new AliasedExpression(Member(_query.GroupBy[0].Value, GroupDefinition.Count), "Count"));
        foreach (GroupAggregate aggregate in _aggregates)
            items.Add(new AliasedExpression(Member(_query.GroupBy[0].Value, aggregate.Member), DefaultName(aggregate)));
        return new SelectClause(0, _query.Select?.Distinct ?? false, Everything: false, null, items);
    }

    private AliasedExpression SelectItem(AliasedExpression item)
    {
        switch (item.Value)
        {
            case MethodExpression method when IsAggregate(method):
                string name = Aggregate(method);
                return new AliasedExpression(Member(method, GroupKey.MemberOf(name)), item.Alias ?? NameOf(method, name));
            case MethodExpression method when ArrayOf(method) is { } array:
                return new AliasedExpression(Member(method, array.Member), item.Alias ?? array.Name);
            case MethodExpression method when _query.Declares(method):
                return item with { Value = CallOverGroups(method) };
            case MethodExpression method when FacetBinder.IsFacet(method):
                return item with { Value = FacetOverGroups(method) };
            case MethodExpression method when SuggestionBinder.IsSuggestion(method):
                return item with { Value = OverGroups(method) };
            case MethodExpression { Arguments: [{ Value: var value, Alias: null }] } method
                when FilterFunctions.Knows(method.Name):
                AliasedExpression of = SelectItem(new AliasedExpression(value, null));
                return new AliasedExpression(
                    method with { Arguments = [new MethodArgument(of.Value, null)] },
                    item.Alias ?? (of.Alias is null ? null : $"{method.Name}({of.Alias})"));
            case MethodExpression method:
                throw Error(
                    method,
                    $"'{method.Name}()' cannot be selected of a group: there are its keys, key(), count(), sum(…), min(…) and "
                        + "max(…)."
                        + (RqlAdvice.ForCall(method) is { } advice ? $" Or {advice}." : ""));
            case PathExpression or LiteralExpression { Kind: LiteralKind.String } when KeyOf(item.Value) is { } key:
                return new AliasedExpression(
                    Member(item.Value, key.Member),
                    item.Alias ?? (item.Value is PathExpression named ? Text(named) : ((LiteralExpression)item.Value).Text));
            case PathExpression path when IsLoaded(path):
                return item;
            case PathExpression path:
                throw NoKey(path, PathOf(path));
            case LiteralExpression { Kind: LiteralKind.String } literal:
                throw NoKey(literal, literal.Text);
            default:
                return item;
        }
    }

    /// <summary>Returns the name of an aggregate that has no alias.</summary>
    private string NameOf(MethodExpression method, string name) =>
        method.Is("count")
            ? "Count"
            : KindOf(method) is { } kind
                ? DefaultName(new GroupAggregate(kind, PathOf(method.Arguments[0].Value)))
                : name == GroupDefinition.WholeKey ? "Key" : name;

    private static string DefaultName(GroupAggregate aggregate) =>
        aggregate.Kind == GroupAggregateKind.Sum ? aggregate.Path : aggregate.Name;

    private PathExpression Member(Expression at, string member) =>
        new(at.Position, [new PathSegment(member, [], Quoted: true)]) { Written = WrittenAs(at) };

    /// <summary>Returns a key or an aggregate as the query names it.</summary>
    private string WrittenAs(Expression expression) => expression switch
    {
        PathExpression path => Text(path) ?? path.ToString(),
        LiteralExpression literal => literal.Text,
        MethodExpression method => $"{method.Name}({string.Join(", ", method.Arguments.Select(one => WrittenAs(one.Value)))})",
        _ => "",
    };

    private InvalidQueryException NoKey(Expression at, string name) =>
        Error(
            at,
            $"'{name}' is no key of 'group by': a group has its keys "
                + $"({string.Join(", ", _keys.Select(key => $"'{key.Name}'"))}), key(), count(), sum(…), min(…) and max(…).");

    private InvalidQueryException Error(Expression at, string message) => RqlErrors.At(_query.Text, at.Position, message);
}
