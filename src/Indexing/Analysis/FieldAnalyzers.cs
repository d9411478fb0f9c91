using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>The analyzers of the full-text fields of a schema, by field number.</summary>
internal sealed class FieldAnalyzers
{
    private readonly Analyzer?[] _analyzers;

    /// <exception cref="IndexSchemaException">A field names an analyzer that does not exist, or names one but is not a
    /// full-text field.</exception>
    public FieldAnalyzers(IndexSchema schema, AnalyzerSet set)
    {
        _analyzers = new Analyzer?[schema.Fields.Count];
        for (int i = 0; i < _analyzers.Length; i++)
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
                _analyzers[i] = set.Get(field.Analyzer ?? AnalyzerSet.DefaultName);
            }
            catch (ArgumentException error)
            {
                throw new IndexSchemaException($"The field '{field.Name}': {error.Message}");
            }
        }
    }

    /// <summary>The analyzer of a full-text field.</summary>
    public Analyzer this[int field] => _analyzers[field]!; // requested only for full-text fields, which have one
}
