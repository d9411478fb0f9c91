using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>The analyzers of the full-text fields of a schema, by position.</summary>
internal sealed class FieldAnalyzers
{
    private readonly Analyzer?[] analyzers;

    /// <exception cref="IndexSchemaException">A field names an analyzer that does not exist, or names one and is not full
    /// text.</exception>
    public FieldAnalyzers(IndexSchema schema, AnalyzerSet set)
    {
        analyzers = new Analyzer?[schema.Fields.Count];
        for (int i = 0; i < analyzers.Length; i++)
        {
            IndexField field = schema.Fields[i];
            if (field.Analysis != FieldAnalysis.FullText)
            {
                if (field.Analyzer is not null)
                    throw new IndexSchemaException(
                        $"The field '{field.Name}' names the analyzer '{field.Analyzer}', which only a full-text field can "
                            + $"have.");
                continue;
            }

            try
            {
                analyzers[i] = set.Get(field.Analyzer ?? AnalyzerSet.DefaultName);
            }
            catch (ArgumentException error)
            {
                throw new IndexSchemaException($"The field '{field.Name}': {error.Message}");
            }
        }
    }

    /// <summary>The analyzer of a full-text field.</summary>
    public Analyzer this[int field] => analyzers[field]!; // asked for full-text fields only, which have one
}
