using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Reducing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Compiles the maps and the reduce of a definition that computes, and completes it with their collections and fields.
/// </summary>
internal static class ComputedDefinition
{
    /// <summary>The member to which the result of <c>CreateField</c> is usually assigned.</summary>
    private const string PlaceOfDynamicFields = "_";

    /// <summary>Returns the mapping of a definition, compiled if it computes.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="engine">Compiles it; null if there is none.</param>
    /// <param name="isStored">Whether it was accepted before, perhaps by a version that found fewer fields in its text: it is
    /// not refused for its fields then.</param>
    /// <exception cref="InvalidIndexDefinitionException">A map or the reduce cannot be compiled, or there is no engine to
    /// compile it.</exception>
    public static StaticIndexMapping Compile(IndexDefinition definition, ComputingEngine? engine, bool isStored = false)
    {
        if (!definition.Computes)
            return new StaticIndexMapping(definition);
        if (engine is null)
            // Throws with the position of the first expression that computes.
            return new StaticIndexMapping(WireDefinition.WithPaths(definition));
        var texts = new IndexTexts(definition.Name, definition.AdditionalSources);
        IReadOnlyList<IndexMap> maps = [.. definition.Maps.Select(map => engine.CompileMap(texts, map))];
        if (maps.Count == 0)
            throw new InvalidIndexDefinitionException(definition.Name, "Maps", "it computes, but has no map.");
        IndexMap[] known = [.. maps.Where(static map => !map.IsOpen)];
        HashSet<string> named = [.. definition.Fields.Select(static field => field.Name)];
        if (!isStored && known.FirstOrDefault(map => !DifferOnlyIn(named, map, known[0])) is { } other)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Maps",
                $"its maps give different fields: {string.Join(", ", known[0].Fields.Select(static field => field.Name))}, and "
                    + $"{string.Join(", ", other.Fields.Select(static field => field.Name))}. Let each map give the fields "
                    + "that it lacks as null, or name them in 'Fields'.");
        if (maps.FirstOrDefault(map => map.Source != maps[0].Source) is { } another)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Maps",
                $"one of its maps is over {NameOf(maps[0].Source)}, another over {NameOf(another.Source)}: all maps of an index "
                    + "are over the same. Define an index for each.");
        var map = new MapSet(maps);
        if (definition.Reduce is { } text)
            return CompileReduce(definition, map, engine.CompileReduce(texts, text), isStored);
        return new StaticIndexMapping(Complete(definition, map, isStored), map);
    }

    /// <summary>
    /// As <see cref="Compile"/>, for a submitted definition: also checks that it can be built with the available analyzers.
    /// </summary>
    /// <exception cref="InvalidIndexDefinitionException">The definition is not valid.</exception>
    public static StaticIndexMapping Require(IndexDefinition definition, IndexingContext context)
    {
        StaticIndexMapping mapping = Compile(DefinitionCheck.RequireForm(definition), context.Computing);
        DefinitionCheck.Require(mapping.Definition, context.AllAnalyzers());
        if (mapping.Reduction is not { } reduction)
            return mapping;
        using DatabaseSnapshot snapshot = context.BeginRead();
        ReduceCheck.Require(definition.Name, reduction, snapshot);
        return mapping;
    }

    /// <summary>
    /// As <see cref="Compile"/>, for a definition from a backup: one that cannot be compiled here is kept, and the index
    /// reports the error.
    /// </summary>
    public static StaticIndexMapping CompileOrKeep(StaticIndexMapping mapping, ComputingEngine? engine)
    {
        DefinitionCheck.RequireForm(mapping.Definition);
        try
        {
            return Compile(mapping.Definition, engine, isStored: true);
        }
        catch (InvalidIndexDefinitionException) when (mapping.Definition.Computes)
        {
            return mapping;
        }
    }

    /// <summary>Returns a mapping that can be run: one that computes is compiled if it has not been yet.</summary>
    /// <exception cref="InvalidIndexDefinitionException">A map or the reduce cannot be compiled, or there is no engine to
    /// compile it.</exception>
    public static IndexMapping Compiled(IndexMapping mapping, ComputingEngine? engine) =>
        mapping is StaticIndexMapping { Definition: { Computes: true } definition, AnyMap: null } byHand
            ? Compile(definition, engine, isStored: true).WithAnalyzers(byHand.Analyzers).With(byHand.DynamicFields)
            : mapping;

    /// <summary>Returns whether all fields that only one of two maps gives are named by the definition.</summary>
    private static bool DifferOnlyIn(HashSet<string> named, IndexMap one, IndexMap other)
    {
        HashSet<string> differing = [.. one.Fields.Select(static field => field.Name)];
        differing.SymmetricExceptWith(other.Fields.Select(static field => field.Name));
        return differing.IsSubsetOf(named);
    }

    private static StaticIndexMapping CompileReduce(
        IndexDefinition definition, IndexMap map, IndexReduce reduce, bool isStored)
    {
        // Results are reduced again, so a reduce must return the fields that maps return.
        HashSet<string> mapped = [.. map.Fields.Select(field => field.Name)],
            reduced = [.. reduce.Fields.Select(field => field.Name)];
        if (map.HasDynamicFields && !reduce.HasDynamicFields)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Reduce",
                "its map makes fields with CreateField and its reduce does not: only fields of the reduce are indexed. Let the "
                    + "map give names and values as ordinary members, and call CreateField in the reduce.");
        if (reduce.HasDynamicFields && !reduced.Contains(PlaceOfDynamicFields))
            mapped.Remove(PlaceOfDynamicFields); // present only so that map and reduce return objects of the same type
        bool isMapKnown = mapped.Count > 0 && !map.IsOpen && !isStored, isReduceKnown = reduced.Count > 0 && !reduce.IsOpen;
        if (isMapKnown && isReduceKnown && !mapped.SetEquals(reduced))
        {
            throw new InvalidIndexDefinitionException(
                definition.Name, "Reduce",
                $"its maps give {Names(mapped)}, and its reduce gives {Names(reduced)}: both must give the same fields, as what "
                    + $"is reduced is reduced again with what comes later.");
        }

        if (reduce.Keys.FirstOrDefault(key => isMapKnown && !mapped.Contains(key)) is { } unknown)
            throw new InvalidIndexDefinitionException(
                definition.Name, "Reduce", $"it groups by '{unknown}', which its maps do not give; they give {Names(mapped)}.");
        if (OutputTarget.Of(definition)?.Pattern?.Fields.FirstOrDefault(field => isMapKnown && !mapped.Contains(field))
            is { } missing)
            throw new InvalidIndexDefinitionException(
                definition.Name, nameof(IndexDefinition.PatternForOutputReduceToCollectionReferences),
                $"its references name the field '{missing}', which it does not give; it gives {Names(mapped)}.");
        IndexDefinition complete = WireDefinition.WithFields(
            definition with { Collections = map.Collections, Boost = null },
            [
                .. (isReduceKnown ? reduce.Fields : reduce.Fields.Concat(map.Fields).DistinctBy(static field => field.Name))
                    .Select(field => Field(definition, field))
            ],
            namesFields: reduce.HasDynamicFields || reduce.IsOpen,
            keepsOptions: isStored);
        return new StaticIndexMapping(complete, reduction: new Reduction(map, reduce));
    }

    private static string NameOf(IndexSourceType source) => source switch
    {
        IndexSourceType.TimeSeries => "time series",
        IndexSourceType.Counters => "counters",
        _ => "documents",
    };

    private static string Names(IEnumerable<string> names) =>
        string.Join(", ", names.Order(StringComparer.Ordinal).Select(name => $"'{name}'"));

    private static IndexDefinition Complete(IndexDefinition definition, IndexMap map, bool isStored) => WireDefinition.WithFields(
        definition with { Collections = map.Collections, Boost = map.HasBoost ? $"'{MappedField.Boost}'" : null },
        [.. map.Fields.Select(field => Field(definition, field))],
        namesFields: map.HasDynamicFields || map.IsOpen,
        keepsOptions: isStored);

    private static IndexFieldDefinition Field(IndexDefinition definition, MappedField field)
    {
        string path = PathOf(field.Name)
            ?? throw new InvalidIndexDefinitionException(
                definition.Name, "Maps", $"a field is called '{field.Name}', which is no name of one.");
        var made = new IndexFieldDefinition { Name = field.Name, Path = path == field.Name ? null : path };
        return field.Kind switch
        {
            MappedFieldKind.Spatial => made with { Path = null, Spatial = new SpatialFieldDefinition { Wkt = path } },
            MappedFieldKind.Vector => made with { Vector = new VectorFieldDefinition(0) },
            _ => made,
        };
    }

    /// <summary>Returns the path of a member of the mapped object; null if the name is not valid.</summary>
    private static string? PathOf(string name)
    {
        bool isPlain = name.Length > 0 && name.All(static one => char.IsLetterOrDigit(one) || one == '_');
        string path = isPlain ? name : $"'{name}'";
        return FieldPath.TryParse(path) is { Count: 1, IsMetadata: false } ? path : null;
    }
}
