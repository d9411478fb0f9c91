using System.Runtime.CompilerServices;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Paths of a query, without the alias of its source, as fields; remembers which are used.</summary>
/// <param name="query">The query.</param>
/// <param name="index">The index that it names; null: it names none.</param>
/// <param name="before">What was found when the same query was bound to the same index before; null: it was not.</param>
internal sealed class FieldBinder(RqlQuery query, IndexMapping? index = null, FieldBinder? before = null)
{
    // What was found before is read by many and changed by nobody: what is new is kept apart.
    private readonly Dictionary<(Expression Operand, AutoIndexFieldKind Kind), AutoIndexField>? _before = before?._found;
    private Dictionary<(Expression Operand, AutoIndexFieldKind Kind), AutoIndexField>? _found;
    private List<FieldUse> _uses = before?._uses ?? [];
    private bool _sharesUses = before is not null;
    private HashSet<AutoIndexField>? _used;

    /// <summary>Fields used, in the order of their first use.</summary>
    public IReadOnlyList<FieldUse> Uses => _uses;

    /// <summary>Whether it is <c>id()</c>, or <c>id(alias)</c>.</summary>
    public bool IsId(Expression expression) =>
        expression is MethodExpression method && method.Is("id") && (method.Arguments.Count == 0 || IsAlias(method.Arguments));

    /// <summary>The path without the alias.</summary>
    public FieldPath Path(PathExpression expression)
    {
        IReadOnlyList<PathSegment> segments = expression.Segments;
        string? alias = query.From.Alias;
        bool startsWithAlias = alias is not null && segments[0].Name == alias && segments[0].Elements.Count == 0;
        if (startsWithAlias && segments.Count == 1)
            throw RqlErrors.NotSupportedYet(
                query.Text, expression.Position, $"The whole document ('{alias}') as a value", "Name its fields.");

        return Path(string.Join('.', startsWithAlias ? segments.Skip(1) : segments), expression.Position);
    }

    /// <summary>The path that a text says.</summary>
    public FieldPath Path(string path, int position) =>
        FieldPath.TryParse(path)
            ?? throw RqlErrors.At(
                query.Text, position, $"'{path}' is not a path: members are apart by '.', and '[]' or '[n]' may follow them.");

    /// <summary>The field of an operand: a path, a path in quotes, or the id.</summary>
    public AutoIndexField Field(Expression operand, AutoIndexFieldKind kind)
    {
        // an operand is known by where it stands, not by what is written there
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

        FieldPath path = operand switch
        {
            PathExpression expression => Path(expression),
            LiteralExpression { Kind: LiteralKind.String } literal => Path(literal.Text, literal.Position),
            MethodExpression method => throw RqlErrors.NotSupportedYet(query.Text, method.Position, $"'{method.Name}()' here"),
            _ => throw RqlErrors.At(query.Text, operand.Position, "Expected a field."),
        };
        return Use(new AutoIndexField(path.Text, kind), operand.Position);
    }

    /// <summary>
    /// The field of an operand of which it is only asked whether it is there: in a named index also a place or a vector.
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

    /// <summary>How an operand is called where the query gives it no other name: its path without the alias.</summary>
    public string NameOf(Expression operand) => operand switch
    {
        PathExpression expression => Path(expression).Text,
        LiteralExpression { Kind: LiteralKind.String } literal => literal.Text,
        _ => AutoIndexField.Id,
    };

    /// <summary>The field of a named index whose value a path of SELECT means; null: the path is one of the document.</summary>
    public StoredField? Selected(FieldPath path)
    {
        foreach (StoredField field in index?.StoredFields ?? [])
            if (field.Name == path.Text)
                return field;
        return null;
    }

    /// <summary>The field of the points whose coordinates are at two paths.</summary>
    public AutoIndexField Point(Expression latitude, Expression longitude)
    {
        FieldPath first = PathOf(latitude), second = PathOf(longitude);
        return Use(new AutoIndexField(first.Text, AutoIndexFieldKind.Point, second.Text), latitude.Position);
    }

    private FieldPath PathOf(Expression operand) => operand switch
    {
        PathExpression expression => Path(expression),
        LiteralExpression { Kind: LiteralKind.String } literal => Path(literal.Text, literal.Position),
        _ => throw RqlErrors.At(query.Text, operand.Position, "Expected a field."),
    };

    /// <summary>Where the values of a field of a named index stand in documents; null: it has no such field.</summary>
    /// <param name="schemaName">The field as the index calls it inside.</param>
    public string? PathIn(string schemaName) => index?.Fields.FirstOrDefault(field => field.SchemaName == schemaName)?.Path;

    /// <summary>See <see cref="BoundQuery.Learning"/>.</summary>
    public StaticIndexMapping? Learning => index is StaticIndexMapping { HasDynamicFields: true } learning ? learning : null;

    /// <summary>Whether the query asks a field in this way.</summary>
    public bool IsUsed(FieldPath path, AutoIndexFieldKind kind)
    {
        var wanted = new AutoIndexField(path.Text, kind);
        return (index is null ? wanted : index.Resolve(wanted)) is { } field && field.Kind == kind && IsUsed(field);
    }

    /// <summary>
    /// Whether documents are asked for by id of an index that has no field of ids: it knows its entries by them.
    /// </summary>
    public bool IsKey(Expression operand) =>
        index is not null && IsId(operand) && index.Resolve(new AutoIndexField(AutoIndexField.Id)) is null;

    /// <summary>
    /// What is said where an index has no field that answers: the names of its fields, or what the field of that name is for.
    /// </summary>
    public static InvalidQueryException NoSuchField(string text, int position, IndexMapping index, AutoIndexField wanted)
    {
        string? has = index is StaticIndexMapping mapping ? mapping.Uses(wanted.Path) : null;
        string names = string.Join(", ", index.FieldNames.Select(name => $"'{name}'"));
        return RqlErrors.At(text, position, has is null
            ? $"The index '{index.Name}' has no field '{(index is StaticIndexMapping ? wanted.Path : wanted.SchemaName)}'; "
                + $"it has {names}.{RqlAdvice.DidYouMean(wanted.Path, index.FieldNames)}"
            : $"The field '{wanted.Path}' of the index '{index.Name}' does not answer this: it holds {has}{Lacks(wanted.Kind)}.");
    }

    private static string Lacks(AutoIndexFieldKind kind) => kind switch
    {
        AutoIndexFieldKind.Exact => "; for 'exact()' it would need \"Indexing\": \"Exact\"",
        AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt => "; for places it would need \"Spatial\"",
        AutoIndexFieldKind.Vector or AutoIndexFieldKind.VectorBytes => "; for vectors it would need \"Vector\"",
        _ => "",
    };

    private AutoIndexField Use(AutoIndexField wanted, int position)
    {
        // A named index gives its fields names of its own.
        AutoIndexField field = index is null
            ? wanted
            : index.Resolve(wanted) ?? throw NoSuchField(query.Text, position, index, wanted);
        if (IsUsed(field))
            return field;
        if (_sharesUses)
            (_uses, _sharesUses) = ([.. _uses], false);
        _uses.Add(new FieldUse(field, position));
        _used!.Add(field); // IsUsed has made it
        return field;
    }

    private bool IsUsed(AutoIndexField field) => (_used ??= [.. _uses.Select(use => use.Field)]).Contains(field);

    private bool IsAlias(IReadOnlyList<MethodArgument> arguments) =>
        arguments is [{ Value: PathExpression { Segments: [{ } only] } }] && query.From.Alias is { } alias && only.Name == alias;

    /// <summary>Operands are the same where they are one node of the tree, which costs no look at what is below it.</summary>
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
