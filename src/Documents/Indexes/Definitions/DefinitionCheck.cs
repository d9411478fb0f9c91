using System.Text;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>Rejects definitions that cannot be built, with the invalid part and what to do.</summary>
internal static class DefinitionCheck
{
    private const int MaxFieldNameLength = 512;

    /// <summary>Returns the definition if it can be built.</summary>
    /// <param name="definition">The definition.</param>
    /// <param name="analyzers">The available analyzers.</param>
    /// <exception cref="InvalidIndexDefinitionException">The definition is not valid.</exception>
    public static IndexDefinition Require(IndexDefinition definition, AnalyzerSet analyzers)
    {
        RequireForm(definition);
        foreach (IndexFieldDefinition field in definition.FieldOptions)
            CheckAnalyzer(definition, field, analyzers);
        if (definition.CompoundFields.Count > IndexWriter.MaxCompounds)
            throw Refuse(
                definition, "CompoundFields",
                $"it names {definition.CompoundFields.Count} pairs of fields; {IndexWriter.MaxCompounds} is the most.");
        foreach (CompoundField pair in definition.CompoundFields)
        {
            CheckWhole(definition, pair.Equal);
            CheckWhole(definition, pair.Order);
        }

        return definition;
    }

    /// <summary>
    /// As <see cref="Require"/>, without checking analyzers: for a definition from a backup, whose analyzers may be missing
    /// here.
    /// </summary>
    public static IndexDefinition RequireForm(IndexDefinition definition)
    {
        CheckName(definition);
        CheckCollections(definition);
        if (definition.Fields.Count > IndexDefinition.MaxFields || (definition.Fields.Count == 0 && !definition.Computes))
            throw Refuse(
                definition, "Fields", $"it has {definition.Fields.Count} fields; an index has 1 to {IndexDefinition.MaxFields}.");

        var names = new HashSet<string>(StringComparer.Ordinal);
        foreach (IndexFieldDefinition field in definition.Fields)
        {
            if (string.IsNullOrWhiteSpace(field.Name) || field.Name.Length > MaxFieldNameLength || field.Name.Any(char.IsControl))
                throw Refuse(
                    definition, "Fields",
                    $"the name of a field has 1 to {MaxFieldNameLength} characters, none of them a control character.");
            if (field.Name == IndexSchema.BoostField)
                throw Refuse(
                    definition, "Fields",
                    $"the name '{IndexSchema.BoostField}' stands for the boosts of documents: give the index a 'Boost', or the "
                        + $"field another name.");
            if (!names.Add(field.Name))
                throw Refuse(definition, "Fields", $"it has the field '{field.Name}' twice.");
            CheckPaths(definition, field);
            CheckOptions(definition, field);
        }

        if (definition.AllFields is { } all)
            // the analyzer is that of fields of words, which say so themselves
            CheckOptions(definition, all.Indexing == FieldIndexing.Default ? all with { Analyzer = null } : all);
        if (definition.Boost is { } boost && (FieldPath.TryParse(boost) is not { } path || path.Text == FieldPath.MetadataMember))
            throw Refuse(definition, "Boost", $"'{boost}' is not the path of a number.");
        if (IndexDefinitionJson.Write(definition).Length > IndexDefinition.MaxBytes)
            throw Refuse(definition, "Fields", $"it is longer than {IndexDefinition.MaxBytes:N0} bytes as JSON.");
        return definition;
    }

    private static void CheckWhole(IndexDefinition definition, string name)
    {
        if (definition.Fields.FirstOrDefault(field => field.Name == name) is not { } field)
            throw Refuse(definition, "CompoundFields", $"it names the field '{name}', which the index has not.");
        if (field.Spatial is not null || field.Vector is not null || field.Indexing == FieldIndexing.No
            || (field.Indexing == FieldIndexing.Search && !field.Sort))
            throw Refuse(
                definition, "CompoundFields",
                $"the field '{name}' has no whole values to be compared and ordered by: take one whose 'Indexing' is Default or "
                    + $"Exact.");
    }

    private static void CheckName(IndexDefinition definition)
    {
        string name = definition.Name;
        if (string.IsNullOrWhiteSpace(name)
            || Encoding.UTF8.GetByteCount(name) > IndexDefinition.MaxNameBytes
            || name.Any(char.IsControl))
            throw Refuse(
                definition, "Name", $"a name has 1 to {IndexDefinition.MaxNameBytes} bytes in UTF-8, and no control characters.");
        if (name.StartsWith("Auto/", StringComparison.OrdinalIgnoreCase)
            || name.StartsWith(IndexCatalogue.ReplacementPrefix, StringComparison.OrdinalIgnoreCase))
            throw Refuse(
                definition, "Name",
                $"names that begin with 'Auto/' are those of indexes that queries make, and with "
                    + $"'{IndexCatalogue.ReplacementPrefix}' those that are being built. Choose another.");
    }

    private static void CheckCollections(IndexDefinition definition)
    {
        if (definition.Collections.Count > IndexDefinition.MaxCollections)
            throw Refuse(
                definition, "Collections",
                $"it names {definition.Collections.Count} collections; {IndexDefinition.MaxCollections} is the most. Without any "
                    + $"it is over all documents.");
        if (definition.Collections.Any(string.IsNullOrWhiteSpace))
            throw Refuse(definition, "Collections", "the name of a collection is empty.");
        if (definition.Collections.Count > 1
            && definition.Collections.Contains(AutoIndexDefinition.AllDocuments, StringComparer.OrdinalIgnoreCase))
            throw Refuse(
                definition, "Collections",
                $"'{AutoIndexDefinition.AllDocuments}' stands for all documents and cannot be combined with a collection.");
    }

    private static void CheckPaths(IndexDefinition definition, IndexFieldDefinition field)
    {
        if (field.Spatial is not { } place)
        {
            CheckPath(definition, field, field.Path ?? field.Name);
            return;
        }

        bool isPoint = place is { Latitude: not null, Longitude: not null, Wkt: null };
        bool isShape = place is { Latitude: null, Longitude: null };
        if (!isPoint && !isShape)
            throw Refuse(
                definition, "Fields",
                $"the place '{field.Name}' has either two paths, 'Latitude' and 'Longitude', or one, 'Wkt'.");
        foreach (string? path in (ReadOnlySpan<string?>)
        [
            place.Latitude, place.Longitude, place.Wkt ?? (isShape ? field.Path ?? field.Name : null)
        ])
            if (path is not null)
                CheckPath(definition, field, path);
        if (isPoint && field.Path is not null)
            throw Refuse(definition, "Fields", $"the place '{field.Name}' has a 'Path' beside its two: leave it out.");
    }

    private static void CheckPath(IndexDefinition definition, IndexFieldDefinition field, string path)
    {
        if (FieldPath.WithoutQuotes(path, out int wrongAt) is null)
        {
            string problem = path[wrongAt] is '\'' or '"'
                ? $"the quote at character {wrongAt + 1} is not closed."
                : $"at character {wrongAt + 1} '.' or '[' is expected behind the quotes.";
            throw Refuse(definition, "Fields", $"'{path}', of the field '{field.Name}', is not a path: {problem}");
        }

        if (path != AutoIndexField.Id && FieldPath.TryParse(path) is null)
            throw Refuse(
                definition, "Fields",
                $"'{path}', of the field '{field.Name}', is not a path: members are apart by '.', at most "
                    + $"{FieldPath.MaxMembers}, and '[]' or '[n]' may follow them.");
        if (path == FieldPath.MetadataMember)
            throw Refuse(
                definition, "Fields",
                $"the field '{field.Name}' is all metadata of a document: name a key of it, as in '@metadata.@collection'.");
    }

    private static void CheckOptions(IndexDefinition definition, IndexFieldDefinition field)
    {
        if (!Enum.IsDefined(field.Indexing))
            throw Refuse(definition, "Fields", $"the field '{field.Name}' is indexed in an unknown way, {(int)field.Indexing}.");

        bool isSearch = field.Indexing == FieldIndexing.Search;
        if (field.Spatial is not null && field.Vector is not null)
            throw Refuse(
                definition, "Fields", $"the field '{field.Name}' is a place and a vector: give them names of their own.");
        if ((field.Spatial is not null || field.Vector is not null)
            && (field.Indexing != FieldIndexing.Default || field.Sort || field.Suggestions))
            throw Refuse(
                definition, "Fields",
                $"the field '{field.Name}' is a {(field.Vector is null ? "place" : "vector")} and has neither words nor an order "
                    + $"of values: leave out 'Indexing', 'Sort' and 'Suggestions'.");
        if (field.Stored && field.Spatial is { Latitude: not null })
            throw Refuse(
                definition, "Fields",
                $"the place '{field.Name}' has two paths and cannot be stored as one value: define fields of their own for what "
                    + $"is to be selected.");
        if (field.Analyzer is not null && !isSearch)
            throw Refuse(
                definition, "Fields",
                $"the field '{field.Name}' names an analyzer, which only a field of words has: say \"Indexing\": \"Search\" "
                    + $"too.");
        if (!BoostLimits.IsOfField(field.Boost))
            throw Refuse(
                definition, "Fields",
                $"the boost of the field '{field.Name}' is {field.Boost}; it is a number from {BoostLimits.LeastOfField} to "
                    + $"{BoostLimits.MostOfField}.");
        if (field.Boost != 1 && !isSearch)
            throw Refuse(
                definition, "Fields",
                $"the field '{field.Name}' has a boost, which weighs the words of a field: say \"Indexing\": \"Search\" too.");
        if (field.Vector is { Bytes: true, Bits: true })
            throw Refuse(
                definition, "Fields",
                $"the vectors of the field '{field.Name}' have Bytes and Bits: a number is kept as one or the other.");
        if (field.Vector is { Dimensions: < 0 or > VectorFieldOptions.MaxDimensions })
            throw Refuse(
                definition, "Fields",
                $"the vectors of the field '{field.Name}' have {field.Vector.Dimensions} dimensions; they have 1 to "
                    + $"{VectorFieldOptions.MaxDimensions}.");
    }

    private static void CheckAnalyzer(IndexDefinition definition, IndexFieldDefinition field, AnalyzerSet analyzers)
    {
        if (field.Analyzer is null)
            return;

        try
        {
            analyzers.Get(field.Analyzer);
        }
        catch (ArgumentException error)
        {
            throw Refuse(definition, "Fields", $"of the field '{field.Name}': {error.Message}");
        }
    }

    private static InvalidIndexDefinitionException Refuse(IndexDefinition definition, string property, string problem)
    {
        string name = definition.Name ?? "";
        return new InvalidIndexDefinitionException(
            name.Length <= IndexDefinition.MaxNameBytes ? name : name[..IndexDefinition.MaxNameBytes], property, problem);
    }
}
