using Treepie.Computations;
using Treepie.Indexing;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// The mapping of a static index. A full-text field is <c>search(Name)</c> in the schema and one of case-sensitive whole
/// values <c>exact(Name)</c>, as in an auto-index; a query on <c>Name</c> uses the one that exists.
/// </summary>
internal sealed class StaticIndexMapping : IndexMapping
{
    private const string Words = "words (\"Indexing\": \"Search\"), without case",
        WholeValues = "whole values without case",
        WholeWithCase = "whole values with case (\"Indexing\": \"Exact\")";

    private readonly Dictionary<(string Name, AutoIndexFieldKind Kind), AutoIndexField> _byName = [];
    private readonly AutoIndexField? _unmet;

    /// <summary>Creates a mapping of a definition that <see cref="DefinitionCheck"/> has accepted.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="map">Its compiled map, if it computes, does not reduce, and will be run.</param>
    /// <param name="reduction">Its compiled maps and reduce, if it reduces and will be run.</param>
    /// <param name="dynamicFields">The fields named by documents.</param>
    public StaticIndexMapping(
        IndexDefinition definition, IndexMap? map = null, Reduction? reduction = null,
        IReadOnlyList<DynamicField>? dynamicFields = null)
    {
        Definition = definition;
        Map = map;
        Reduction = reduction;
        Output = OutputTarget.Of(definition);
        bool keepsObjects = definition.Reduce is not null || KeepsObjects;
        bool coversAll = definition.Collections.Contains(AutoIndexDefinition.AllDocuments, StringComparer.OrdinalIgnoreCase);
        Collections = coversAll ? [] : [.. definition.Collections.Distinct(StringComparer.OrdinalIgnoreCase)];
        var fields = new List<AutoIndexField>();
        var schema = new List<IndexField>();
        foreach (IndexFieldDefinition field in definition.Fields)
        {
            foreach (AutoIndexField source in SourcesOf(field))
            {
                fields.Add(source);
                schema.Add(SchemaOf(field, source));
                _byName.Add((field.Name, source.Kind), source);
            }
        }

        if (definition.Boost is { } boost)
        {
            fields.Add(new AutoIndexField(boost, AutoIndexFieldKind.Boost) { NameInIndex = IndexSchema.BoostField });
            schema.Add(new IndexField(IndexSchema.BoostField));
        }

        DynamicFields = dynamicFields ?? [];
        if (HasDynamicFields)
        {
            _unmet = new AutoIndexField(MappedField.Dynamic) { NameInIndex = MappedField.Dynamic, IsDynamic = true };
            fields.Add(_unmet);
            schema.Add(new IndexField(_unmet.SchemaName));
        }

        FieldsOfText = fields.Count;
        var positions = new Dictionary<DynamicField, List<int>>();
        foreach (DynamicField field in DynamicFields)
        {
            if (KindOf(field.Use) is not { } kind)
                continue;
            var source = new AutoIndexField(field.Name, kind) { IsDynamic = true };
            positions.Add(field, [fields.Count]);
            fields.Add(source);
            schema.Add(new IndexField(source.SchemaName, source.Analysis)
            {
                Analyzer = kind == AutoIndexFieldKind.Search ? definition.AllFields?.Analyzer : null
            });
            _byName.Add((field.Name, kind), source);
        }

        Fields = fields;
        Schema = new IndexSchema(schema);
        DynamicPositions = WithFieldsOfDefinition(positions);
        IEnumerable<StoredField> ofDefinition = definition.Fields.Select((field, place) => (field, place))
            .Where(f => PathOf(f.field) is not null)
            // Computed values that are not stored cannot be read from documents; of groups the whole object is stored.
            .Where(f => f.field.Stored || !definition.Computes || keepsObjects)
            .Select(
                f => new StoredField(
                    f.field.Name, PathOf(f.field)!, f.place + 1, f.field.Stored && !keepsObjects,
                    definition.Computes && !keepsObjects));
        IEnumerable<StoredField> ofDocuments = DynamicFields.Where(static field => field.Use == DynamicFieldUse.Stored)
            .Select(
                (field, place) => new StoredField(
                    field.Name, field.Name, definition.Fields.Count + 1 + place, IsStored: true, IsComputed: true,
                    IsDynamic: true));
        StoredFields = [.. ofDefinition, .. ofDocuments];
    }

    /// <summary>The definition.</summary>
    public IndexDefinition Definition { get; }

    /// <summary>Whether documents, or the groups of a reduce, determine names of fields.</summary>
    public bool HasDynamicFields =>
        IsOpen || Map is { HasDynamicFields: true } || Reduction is { Reduce.HasDynamicFields: true };

    /// <summary>Whether members of its objects that are not among the fields of the definition are fields too.</summary>
    public bool IsOpen => Map is { IsOpen: true } || Reduction is { Reduce.IsOpen: true };

    /// <summary>
    /// The number of fields, counted from the first, that the definition determines: an index has them from the beginning.
    /// </summary>
    public int FieldsOfText { get; }

    /// <summary>The fields named by documents, in the order in which they were first seen.</summary>
    public IReadOnlyList<DynamicField> DynamicFields { get; }

    /// <summary>The custom analyzers it is built with, as JSON by name: a change of one results in a different index.</summary>
    public IReadOnlyDictionary<string, string> Analyzers { get; private init; } = new Dictionary<string, string>();

    public override IndexMap? Map { get; }

    public override Reduction? Reduction { get; }

    public override OutputTarget? Output { get; }

    public override string Name => Definition.Name;

    public override ArchivedDocuments Archived => Definition.ArchivedDocuments;

    public override IReadOnlyList<string> Collections { get; }

    public override IReadOnlyList<AutoIndexField> Fields { get; }

    public override IndexSchema Schema { get; }

    public override IReadOnlyList<StoredField> StoredFields { get; }

    public override IEnumerable<string> FieldNames =>
        Definition.Fields.Select(f => f.Name).Concat(DynamicFields.Select(static met => met.Name)).Distinct();

    /// <summary>Returns this mapping with more fields named by documents, up to the limit.</summary>
    public StaticIndexMapping With(IEnumerable<DynamicField> more) => new(
        Definition, Map, Reduction,
        [.. DynamicFields.Concat(more).Distinct().Take(IndexDefinition.MaxDynamicFields)])
    {
        Analyzers = Analyzers
    };

    public override IndexMapping AsBuilt(IndexMapping built) => With(((StaticIndexMapping)built).DynamicFields);

    public override IndexMapping Anew => new StaticIndexMapping(Definition, Map, Reduction) { Analyzers = Analyzers };

    /// <summary>Describes how a field is indexed, for error messages; returns null if there is no such field.</summary>
    public string? Uses(string name) => Definition.Fields.FirstOrDefault(field => field.Name == name) switch
    {
        null => DynamicFields.FirstOrDefault(field => field.Name == name && field.Use != DynamicFieldUse.Stored) switch
        {
            { Name: null } => null,
            { Use: DynamicFieldUse.Exact } => WholeWithCase,
            { Use: DynamicFieldUse.Search } => Words,
            _ => WholeValues,
        },
        { Spatial: not null } => "places, for 'spatial.within()' and its like",
        { Vector: not null } => "vectors, for 'vector.search()'",
        { Indexing: FieldIndexing.Exact } => WholeWithCase,
        { Indexing: FieldIndexing.Search } => Words,
        { Indexing: FieldIndexing.No } => "what can be selected and not looked for (\"Indexing\": \"No\")",
        _ => WholeValues,
    };

    public override AutoIndexField? Resolve(AutoIndexField wanted)
    {
        // A query on whole values can also use a full-text field: it then compares words. A case-sensitive query needs a
        // case-sensitive field.
        ReadOnlySpan<AutoIndexFieldKind> kinds = wanted.Kind switch
        {
            AutoIndexFieldKind.Value => [AutoIndexFieldKind.Value, AutoIndexFieldKind.Exact, AutoIndexFieldKind.Search],
            AutoIndexFieldKind.Search => [AutoIndexFieldKind.Search, AutoIndexFieldKind.Value, AutoIndexFieldKind.Exact],
            AutoIndexFieldKind.Exact => [AutoIndexFieldKind.Exact],
            AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt => [AutoIndexFieldKind.Point, AutoIndexFieldKind.Wkt],
            AutoIndexFieldKind.PackedBits => [], // its vectors are numbers
            _ when ComputedKinds.IsComputed(wanted.Kind) => [], // its map computes: such a field is one of its own
            _ => [AutoIndexFieldKind.Vector],
        };
        foreach (AutoIndexFieldKind kind in kinds)
            if (_byName.TryGetValue((wanted.Path, kind), out AutoIndexField? found))
                return found;

        // A name that no document has used yet is a field without values.
        bool mayBeSaid = wanted.HasTerms && DynamicField.Problem(wanted.Path) is null && Uses(wanted.Path) is null;
        return mayBeSaid && _unmet is not null ? _unmet with { Path = wanted.Path } : null;
    }

    /// <summary>
    /// The positions of the fields that take the values a document gives under a name: the fields of the definition with
    /// that name, or else the dynamic field of this use. A name that has not been seen yet is not included.
    /// </summary>
    public IReadOnlyDictionary<DynamicField, int[]> DynamicPositions { get; }

    private Dictionary<DynamicField, int[]> WithFieldsOfDefinition(Dictionary<DynamicField, List<int>> positions)
    {
        foreach (((string name, _), AutoIndexField source) in _byName)
        {
            if (source.IsDynamic || !HasDynamicFields)
                continue;
            int position = Schema.IndexOf(source.SchemaName);
            foreach (DynamicFieldUse use in (ReadOnlySpan<DynamicFieldUse>)
            [
                DynamicFieldUse.Value, DynamicFieldUse.Search, DynamicFieldUse.Exact
            ])
            {
                if (!positions.TryGetValue(new DynamicField(name, use), out List<int>? taken))
                    positions.Add(new DynamicField(name, use), taken = []);
                taken.Add(position);
            }
        }

        return positions.ToDictionary(static entry => entry.Key, static entry => entry.Value.ToArray());
    }

    public override bool IsSameAs(IndexMapping other) =>
        other is StaticIndexMapping mapping
            && IndexDefinitionJson.AreSame(mapping.Definition, Definition)
            && mapping.Analyzers.Count == Analyzers.Count
            && mapping.Analyzers.All(one => Analyzers.GetValueOrDefault(one.Key) == one.Value);

    /// <summary>Returns this mapping with other analyzers.</summary>
    public StaticIndexMapping WithAnalyzers(IReadOnlyDictionary<string, string> analyzers) =>
        analyzers.Count == 0 && Analyzers.Count == 0
            ? this
            : new StaticIndexMapping(Definition, Map, Reduction, DynamicFields) { Analyzers = analyzers };

    public override AnalyzerSet AnalyzersOver(AnalyzerSet ofProgram)
    {
        foreach ((string name, string code) in Analyzers)
            ofProgram = ofProgram.With(
                name,
                CustomAnalyzers.TryMake(code)
                    ?? throw new IndexSchemaException($"The parts of the analyzer '{name}' are not those of this program."));
        return ofProgram;
    }

    /// <summary>Returns the single path of a field; null for a point, which has two.</summary>
    private static string? PathOf(IndexFieldDefinition field) => field.Spatial switch
    {
        null => field.Path ?? field.Name,
        { Latitude: null } place => place.Wkt ?? field.Path ?? field.Name,
        _ => null,
    };

    private static AutoIndexFieldKind? KindOf(DynamicFieldUse use) => use switch
    {
        DynamicFieldUse.Value => AutoIndexFieldKind.Value,
        DynamicFieldUse.Search => AutoIndexFieldKind.Search,
        DynamicFieldUse.Exact => AutoIndexFieldKind.Exact,
        _ => null,
    };

    private static IEnumerable<AutoIndexField> SourcesOf(IndexFieldDefinition field)
    {
        string path = field.Path ?? field.Name;
        if (field.Spatial is { } place)
        {
            yield return place is { Latitude: { } latitude, Longitude: { } longitude }
                ? new AutoIndexField(latitude, AutoIndexFieldKind.Point, longitude) { NameInIndex = field.Name }
                : new AutoIndexField(place.Wkt ?? path, AutoIndexFieldKind.Wkt) { NameInIndex = field.Name };
            yield break;
        }

        if (field.Vector is not null)
        {
            yield return new AutoIndexField(path, AutoIndexFieldKind.Vector) { NameInIndex = field.Name };
            yield break;
        }

        switch (field.Indexing)
        {
            case FieldIndexing.Search:
                yield return new AutoIndexField(path, AutoIndexFieldKind.Search) { NameInIndex = $"search({field.Name})" };
                if (field.Sort)
                    yield return new AutoIndexField(path) { NameInIndex = field.Name };
                break;
            case FieldIndexing.Exact:
                yield return new AutoIndexField(path, AutoIndexFieldKind.Exact) { NameInIndex = $"exact({field.Name})" };
                break;
            case FieldIndexing.No:
                break;
            default:
                yield return new AutoIndexField(path) { NameInIndex = field.Name };
                break;
        }
    }

    private static IndexField SchemaOf(IndexFieldDefinition field, AutoIndexField source)
    {
        var schema = new IndexField(source.SchemaName, source.Analysis);
        if (field.Vector is { } vector)
            return schema with
            {
                Vector = new VectorFieldOptions(
                    vector.Dimensions, vector.Bits ? VectorMetric.Hamming : VectorMetric.Cosine, vector.Bytes || vector.Bits)
            };
        return source.Kind == AutoIndexFieldKind.Search ? schema with { Analyzer = field.Analyzer, Boost = field.Boost } : schema;
    }
}
