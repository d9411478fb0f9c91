using System.Runtime.CompilerServices;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Queries.Filters;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Resolves paths of a query, without the alias of its source, to fields, and records which fields are used.
/// </summary>
/// <param name="query">The query.</param>
/// <param name="index">The named index of the query, or null.</param>
/// <param name="before">The binder of an earlier binding of the same query to the same index, or null.</param>
internal sealed class FieldBinder(RqlQuery query, IndexMapping? index = null, FieldBinder? before = null)
{
    // The earlier binder's fields are shared between threads and must not change, so new fields are kept separately.
    private readonly Dictionary<(Expression Operand, AutoIndexFieldKind Kind), AutoIndexField>? _before = before?._found;
    private Dictionary<(Expression Operand, AutoIndexFieldKind Kind), AutoIndexField>? _found;
    private List<FieldUse> _uses = before?._uses ?? [];
    private bool _sharesUses = before is not null;
    private HashSet<AutoIndexField>? _used;

    /// <summary>The named index of the query, or null.</summary>
    public IndexMapping? Index => index;

    /// <summary>The used fields, in the order of their first use.</summary>
    public IReadOnlyList<FieldUse> Uses => _uses;

    /// <summary>Whether an expression is <c>id()</c> or <c>id(alias)</c>.</summary>
    public bool IsId(Expression expression) =>
        expression is MethodExpression method && method.Is("id") && (method.Arguments.Count == 0 || IsAlias(method.Arguments));

    /// <summary>Returns the path without the alias.</summary>
    public FieldPath Path(PathExpression expression) => QueryPaths.Of(query, expression);

    /// <summary>Parses a path.</summary>
    public FieldPath Path(string path, int position) => QueryPaths.Parse(query, path, position);

    /// <summary>Returns the field of an operand: a path, a quoted path, or the id.</summary>
    public AutoIndexField Field(Expression operand, AutoIndexFieldKind kind)
    {
        // operands are compared by reference, not by content
        if (_before is not null && _before.TryGetValue((operand, kind), out AutoIndexField? known))
            return known;
        AutoIndexField field = Find(operand, kind);
        if (_before is null)
            (_found ??= new(ByPlace.Instance)).TryAdd((operand, kind), field);
        return field;
    }

    private AutoIndexField Find(Expression operand, AutoIndexFieldKind kind)
    {
        if (IsId(operand))
            return Use(new AutoIndexField(AutoIndexField.Id), operand.Position);

        if (ComputedOperand.Of(query, operand) is (var computed, { } of))
        {
            // numbers, days and moments are the same with and without case
            kind = kind is AutoIndexFieldKind.Exact or AutoIndexFieldKind.Value
                ? computed
                : throw RqlErrors.At(
                    query.Text, operand.Position,
                    $"'{ComputedKinds.NameOf(computed)}()' gives a number or a time, without words, places and vectors to "
                        + "search: compare it with =, <, between or in.");
            if (IsId(of))
                return Use(new AutoIndexField(AutoIndexField.Id, kind), operand.Position);
            operand = of;
        }

        FieldPath path = operand switch
        {
            PathExpression expression => IndexedPath(expression),
            LiteralExpression { Kind: LiteralKind.String } literal => Path(literal.Text, literal.Position),
            MethodExpression method when IsBeside(method) => throw NoFieldBeside(method),
            MethodExpression { Arguments.Count: > 0 } method when FilterFunctions.Knows(method.Name) => throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' is computed from documents, and an index has only stored values and those that its map "
                    + $"computes (new {{ Year = o.At.Year }}). {ExaminedConditions.WayOut(query)}"),
            MethodExpression method when query.Declares(method) => throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' is a function of this query and can be used in 'select' and 'filter'. "
                    + ExaminedConditions.WayOut(query)),
            MethodExpression method when FilterFunctions.Knows(method.Name) => throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes a field or the id: {method.Name}({(method.Is("length") ? "Name" : "OrderedAt")})."),
            MethodExpression { Arguments: [{ Value: PathExpression loaded }] } method
                when method.Is("id") && query.LoadNames.Contains(loaded.Segments[0].Name) => throw RqlErrors.At(
                    query.Text, method.Position,
                    $"'id({loaded})' is of a document that 'load' brings, which the index of the source does not have. "
                        + "Compare the field that has the id (o.Company = 'companies/1'), or write it after 'filter'."),
            MethodExpression method => throw FunctionNames.NotHere(query, method, "where a field is expected"),
            _ => throw RqlErrors.At(query.Text, operand.Position, "Expected a field."),
        };
        return Use(new AutoIndexField(path.Text, kind), operand.Position);
    }

    /// <summary>Whether a call is of what lies beside documents, which no index of documents has.</summary>
    public static bool IsBeside(MethodExpression method) => method.Is("counter") || method.Is("timeseries");

    /// <summary>The error for such a call in a condition or an order: says what to write instead.</summary>
    public InvalidQueryException NoFieldBeside(MethodExpression method) => RqlErrors.At(
        query.Text, method.Position,
        $"Counters and time series are no fields of documents, so no index of documents answers '{method.Name}()'. Define an "
            + "index over them (counters.map('Users', 'Likes', …), timeSeries.map('Users', 'Heartrate', …)) and ask it"
            + (ExaminedConditions.Suggests(query)
                ? "."
                : ", or look at each document: from Users as u filter counter(u, 'Likes') > 3. "
                    + ExaminedConditions.WayOut(query)));

    /// <summary>
    /// Returns the field of an operand that is only tested for existence. In a named index it may also be a spatial or a vector
    /// field.
    /// </summary>
    public AutoIndexField Existing(Expression operand, AutoIndexFieldKind kind)
    {
        if (index is not null && !IsId(operand) && operand is PathExpression or LiteralExpression { Kind: LiteralKind.String })
            foreach (AutoIndexFieldKind other in (ReadOnlySpan<AutoIndexFieldKind>)
            [
                kind, AutoIndexFieldKind.Point, AutoIndexFieldKind.Vector
            ])
                if (index.Resolve(new AutoIndexField(NameOf(operand), other)) is not null)
                    return Field(operand, other);
        return Field(operand, kind);
    }

    /// <summary>Returns the default name of an operand: its path without the alias.</summary>
    public string NameOf(Expression operand) => operand switch
    {
        PathExpression expression => expression.Written ?? Path(expression).Text,
        LiteralExpression { Kind: LiteralKind.String } literal => literal.Text,
        _ when ComputedOperand.Of(query, operand) is (var kind, { } of) => $"{ComputedKinds.NameOf(kind)}({NameOf(of)})",
        LiteralExpression literal => literal.Text,
        CompareExpression compare => $"{NameOf(compare.Left)} {compare.Sign} {NameOf(compare.Right)}",
        MethodExpression method when !IsId(method) =>
            $"{method.Name}({string.Join(", ", method.Arguments.Select(argument => NameOf(argument.Value)))})",
        MethodExpression => AutoIndexField.Id,
        _ => "…",
    };

    /// <summary>
    /// Returns the field of a named index that a path of SELECT refers to, or null if the path is one of the document.
    /// </summary>
    public StoredField? Selected(FieldPath path)
    {
        foreach (StoredField field in index?.StoredFields ?? [])
            if (field.Name == path.Text)
                return field;
        return null;
    }

    /// <summary>Returns the field of the points whose coordinates are at two paths.</summary>
    public AutoIndexField Point(Expression latitude, Expression longitude)
    {
        FieldPath first = PathOf(latitude), second = PathOf(longitude);
        return Use(new AutoIndexField(first.Text, AutoIndexFieldKind.Point, second.Text), latitude.Position);
    }

    private FieldPath PathOf(Expression operand) => operand switch
    {
        PathExpression expression => IndexedPath(expression),
        LiteralExpression { Kind: LiteralKind.String } literal => Path(literal.Text, literal.Position),
        _ => throw RqlErrors.At(query.Text, operand.Position, "Expected a field."),
    };

    /// <summary>Returns a path of documents that an index has. It has none of those that LOAD brings.</summary>
    private FieldPath IndexedPath(PathExpression expression) =>
        expression.Segments[0] is { Quoted: false, Name: var root }
            && root != query.From.Alias
            && query.LoadNames.Contains(root)
            ? throw RqlErrors.At(
                query.Text, expression.Position,
                $"'{expression}' is of a document that 'load' brings, which the index of the source does not have. Write a "
                    + $"condition on it after 'filter', or define an index whose map loads it (LoadDocument) and query that "
                    + $"field. A field of the document itself is written with the name of the source: "
                    + $"from … as x where x.{expression} …")
            : Path(expression);

    /// <summary>Returns the document path of a field of a named index, or null if there is no such field.</summary>
    /// <param name="schemaName">The field's name in the index schema.</param>
    public string? PathIn(string schemaName) => index?.Fields.FirstOrDefault(field => field.SchemaName == schemaName)?.Path;

    /// <summary>See <see cref="BoundQuery.Learning"/>.</summary>
    public StaticIndexMapping? Learning => index is StaticIndexMapping { HasDynamicFields: true } learning ? learning : null;

    /// <summary>Whether the query uses a field with this kind.</summary>
    public bool IsUsed(FieldPath path, AutoIndexFieldKind kind)
    {
        var wanted = new AutoIndexField(path.Text, kind);
        return (index is null ? wanted : index.Resolve(wanted)) is { } field && field.Kind == kind && IsUsed(field);
    }

    /// <summary>
    /// Whether an operand is the document id and the index has no id field, so that its entries are looked up by key.
    /// </summary>
    public bool IsKey(Expression operand) =>
        index is not null && IsId(operand) && index.Resolve(new AutoIndexField(AutoIndexField.Id)) is null;

    /// <summary>Whether the entries of the index are groups of documents, so that none has an id.</summary>
    public bool IsOverGroups => index is { Reduction: not null } or StaticIndexMapping { Definition.Reduce: not null };

    /// <summary>Whether the index may have several entries of a document.</summary>
    public bool MayHaveSeveralOfDocument => index is { Map.IsSingle: false, KeepsObjects: false };

    /// <summary>Whether the entries of the index belong to no document whose id is their key.</summary>
    public bool HasNoIds => index is { KeepsObjects: true };

    /// <summary>
    /// The error for a field that the index lacks or that does not support the condition: lists the index's fields, or says what
    /// the field of that name supports.
    /// </summary>
    public static InvalidQueryException NoSuchField(string text, int position, IndexMapping index, AutoIndexField wanted)
    {
        string? has = index is StaticIndexMapping mapping ? mapping.Uses(wanted.Path) : null;
        string names = string.Join(", ", index.FieldNames.Select(name => $"'{name}'"));
        return RqlErrors.At(text, position, has is null
            ? $"The index '{index.Name}' has no field '{(index is StaticIndexMapping ? wanted.Path : wanted.SchemaName)}'; "
                + $"it has {names}.{RqlAdvice.ForField(wanted.Path, index.FieldNames)}"
            : $"The field '{wanted.Path}' of the index '{index.Name}' does not answer this: it holds {has}{Lacks(wanted.Kind)}.");
    }

    private static string Lacks(AutoIndexFieldKind kind) => kind switch
    {
        AutoIndexFieldKind.Exact => "; for 'exact()' it would need \"Indexing\": \"Exact\"",
        AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt => "; for places it would need \"Spatial\"",
        AutoIndexFieldKind.PackedBits =>
            "; packed bits are asked for over a collection: vector.search(embedding.i1(V), $v)",
        _ when AutoIndexField.IsVector(kind) =>
            "; for vectors it would need \"Vector\"",
        AutoIndexFieldKind.Utc => "; for 'utc()' compute the moment in the map, as a time in UTC, and compare that field",
        _ when ComputedKinds.IsComputed(kind) =>
            $"; for '{ComputedKinds.NameOf(kind)}()' compute it in the map (new {{ Year = o.At.Year }}) and ask for that field",
        _ => "",
    };

    private AutoIndexField Use(AutoIndexField wanted, int position)
    {
        // A named index has its own field names.
        AutoIndexField field = index is null
            ? wanted
            : index.Resolve(wanted) ?? throw NoSuchField(query.Text, position, index, wanted);
        if (IsUsed(field))
            return field;
        if (_sharesUses)
            (_uses, _sharesUses) = ([.. _uses], false);
        _uses.Add(new FieldUse(field, position));
        _used!.Add(field); // not null: IsUsed created it
        return field;
    }

    private bool IsUsed(AutoIndexField field) => (_used ??= [.. _uses.Select(use => use.Field)]).Contains(field);

    private bool IsAlias(IReadOnlyList<MethodArgument> arguments) =>
        arguments is [{ Value: PathExpression { Segments: [{ } only] } }] && query.From.Alias is { } alias && only.Name == alias;

    /// <summary>Compares operands by reference, which avoids comparing their subtrees.</summary>
    private sealed class ByPlace : IEqualityComparer<(Expression Operand, AutoIndexFieldKind Kind)>
    {
        public static readonly ByPlace Instance = new();

        public bool Equals(
            (Expression Operand, AutoIndexFieldKind Kind) left, (Expression Operand, AutoIndexFieldKind Kind) right) =>
            ReferenceEquals(left.Operand, right.Operand) && left.Kind == right.Kind;

        public int GetHashCode((Expression Operand, AutoIndexFieldKind Kind) one) =>
            RuntimeHelpers.GetHashCode(one.Operand) ^ (int)one.Kind;
    }
}
