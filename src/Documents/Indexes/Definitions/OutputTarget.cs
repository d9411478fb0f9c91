using System.Text;

namespace Treepie.Indexes.Definitions;

/// <summary>Where an index writes the results of its groups as documents.</summary>
/// <param name="Collection">Their collection, which is the prefix of their ids.</param>
/// <param name="Pattern">The pattern of the ids of reference documents; null if none are written.</param>
/// <param name="ReferencesCollection">The collection of the reference documents.</param>
internal sealed record OutputTarget(string Collection, ReferencePattern? Pattern, string ReferencesCollection)
{
    private const string OutputPart = "OutputReduceToCollection";
    private const string PatternPart = "PatternForOutputReduceToCollectionReferences";
    private const string ReferencesPart = "PatternReferencesCollectionName";

    private const int MaxCollectionBytes = 256;

    /// <summary>All collections it writes to.</summary>
    public IReadOnlyList<string> Collections => Pattern is null ? [Collection] : [Collection, ReferencesCollection];

    /// <summary>Returns the target specified by a definition; null if it writes no documents.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The specification is not valid.</exception>
    public static OutputTarget? Of(IndexDefinition definition)
    {
        string? pattern = definition.PatternForOutputReduceToCollectionReferences,
            references = definition.PatternReferencesCollectionName;
        if (definition.OutputReduceToCollection is not { } collection)
        {
            return pattern is null && references is null
                ? null
                : throw new InvalidIndexDefinitionException(
                    definition.Name, pattern is null ? ReferencesPart : PatternPart,
                    $"its references are to outputs, and it has none: name their collection in '{OutputPart}'.");
        }

        if (definition.Reduce is null)
            throw new InvalidIndexDefinitionException(
                definition.Name, OutputPart,
                "it writes what it reduces as documents, but has no 'Reduce'. Add one, or leave the collection out.");
        CheckCollection(definition, OutputPart, collection);
        references ??= collection + "/References";
        if (pattern is null)
            return new OutputTarget(collection, null, references);
        CheckCollection(definition, ReferencesPart, references);
        if (string.Equals(collection, references, StringComparison.OrdinalIgnoreCase))
            throw new InvalidIndexDefinitionException(
                definition.Name, ReferencesPart, $"outputs and references to them have the same collection, '{collection}'.");
        try
        {
            return new OutputTarget(collection, ReferencePattern.Parse(pattern), references);
        }
        catch (FormatException error)
        {
            throw new InvalidIndexDefinitionException(definition.Name, PatternPart, $"'{pattern}': {error.Message}");
        }
    }

    /// <summary>
    /// Rejects an index that would read what it writes, directly or through other indexes, or write to a collection to which
    /// another index writes.
    /// </summary>
    /// <exception cref="InvalidIndexDefinitionException">The index is rejected.</exception>
    public static void RequireNoLoops(IReadOnlyList<IndexMapping> mappings, IEnumerable<IndexMapping> existing)
    {
        List<IndexMapping> all = [.. existing];
        foreach (IndexMapping mapping in mappings)
        {
            RequireNoLoop(mapping, all);
            all.RemoveAll(other => string.Equals(other.Name, mapping.Name, StringComparison.OrdinalIgnoreCase));
            all.Add(mapping);
        }
    }

    private static void RequireNoLoop(IndexMapping mapping, List<IndexMapping> all)
    {
        List<IndexMapping> others =
            [.. all.Where(other => !string.Equals(other.Name, mapping.Name, StringComparison.OrdinalIgnoreCase))];
        foreach (IndexMapping other in others)
        {
            if (mapping.Output?.Collections.FirstOrDefault(one => other.Output?.WritesTo(one) == true) is { } shared)
                throw new InvalidIndexDefinitionException(
                    mapping.Name, OutputPart, $"it writes to the collection '{shared}', to which index '{other.Name}' writes.");
        }

        var reached = new List<IndexMapping> { mapping };
        for (int i = 0; i < reached.Count; i++)
        {
            if (reached[i].Output is not { } output)
                continue;
            if (output.Collections.FirstOrDefault(one => Reads(mapping, one)) is { } own)
                throw new InvalidIndexDefinitionException(
                    mapping.Name, OutputPart,
                    reached[i] == mapping
                        ? $"it writes to the collection '{own}', which it reads: it would never come to an end."
                        : $"it reads the collection '{own}', to which index '{reached[i].Name}' writes what comes of its own "
                            + $"outputs: they would never come to an end.");
            reached.AddRange(others.Where(other => !reached.Contains(other) && output.Collections.Any(one => Reads(other, one))));
        }
    }

    private bool WritesTo(string collection) => Collections.Contains(collection, StringComparer.OrdinalIgnoreCase);

    private static bool Reads(IndexMapping mapping, string collection) =>
        mapping.CoversCollection(collection)
            || mapping.AnyMap?.LoadedCollections.Contains(collection, StringComparer.OrdinalIgnoreCase) == true;

    private static void CheckCollection(IndexDefinition definition, string part, string collection)
    {
        if (string.IsNullOrWhiteSpace(collection)
            || collection[0] == '@'
            || collection.Any(char.IsControl)
            || Encoding.UTF8.GetByteCount(collection) > MaxCollectionBytes)
            throw new InvalidIndexDefinitionException(
                definition.Name, part,
                $"the name of a collection has 1 to {MaxCollectionBytes} bytes in UTF-8, no control characters, and no '@' "
                    + $"in front.");
    }
}
