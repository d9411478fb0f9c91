using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Indexing.Writing;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// The writing door of an index: puts and removes entries, a batch at a time, in one storage transaction that also records
/// how far the index is. One thread at a time.
/// </summary>
/// <remarks>
/// Promises: after <see cref="Commit"/> a new <see cref="IndexSearcher"/> sees the whole batch and nothing else new; searchers
/// opened before see none of it. Costs: memory for one batch, and work in proportion to the batch, not to the index.
/// </remarks>
public sealed class IndexWriter
{
    private readonly StorageEnvironment environment;
    private readonly FieldAnalyzers analyzers;

    /// <summary>By field: the numbers its vectors have, 0 where that is open.</summary>
    private readonly int[] dimensions;

    /// <summary>Opens the index that lives in <paramref name="environment"/>, creating it with <paramref name="schema"/> if empty.</summary>
    /// <param name="environment">The index's own store.</param>
    /// <param name="schema">Its fields.</param>
    /// <param name="analyzerSet">The analyzers that the schema's fields may name; null: the built-in ones.</param>
    /// <exception cref="IndexSchemaException">
    /// The index exists with another schema or in another format, or the schema names a field twice or an analyzer that does not exist.
    /// </exception>
    public IndexWriter(StorageEnvironment environment, IndexSchema schema, AnalyzerSet? analyzerSet = null)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(schema);
        SchemaRecord.Check(schema);
        analyzers = new FieldAnalyzers(schema, analyzerSet ?? AnalyzerSet.BuiltIn);
        this.environment = environment;
        Schema = schema;
        using ReadTransaction read = environment.BeginRead();
        Tree? index = read.FindTree(TreeNames.Index);
        LastEtag = IndexState.Read(index).Etag; // first, as it refuses other formats
        IndexSchema? existing = SchemaRecord.Read(index);
        dimensions = [.. schema.Fields.Select((field, number) => field.Analysis != FieldAnalysis.Vector ? 0 : Dimensions(read, number, field.Vector))];
        if (existing is null)
            environment.Write(Create);
        else if (!existing.Fields.SequenceEqual(schema.Fields))
            throw new IndexSchemaException(Difference(existing, schema));
    }

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema { get; }

    /// <summary>The etag recorded by the last batch, 0 for a new index.</summary>
    public long LastEtag { get; private set; }

    /// <summary>An empty batch to fill; reused after <see cref="Commit"/>.</summary>
    public IndexBatch BeginBatch() => new(Schema, analyzers, dimensions);

    /// <summary>Applies the batch and records <paramref name="etag"/>, all or nothing. Afterwards the batch is empty.</summary>
    /// <exception cref="InvalidOperationException">An entry of the batch was not ended.</exception>
    public void Commit(IndexBatch batch, long etag, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.CheckClosed();
        environment.Write(
            transaction =>
            {
                BatchCommit.Run(transaction, Schema, batch, etag, cancellationToken);
                return true;
            },
            cancellationToken);
        batch.Clear();
        LastEtag = etag;
    }

    private bool Create(WriteTransaction transaction)
    {
        Tree index = transaction.GetOrCreateTree(TreeNames.Index);
        SchemaRecord.Write(index, Schema);
        IndexState.Read(index).Write(index);
        return true;
    }

    private static int Dimensions(ReadTransaction read, int field, VectorFieldOptions? options)
    {
        int known = VectorState.Read(read.FindTree(TreeNames.Links(field))).Dimensions;
        return known > 0 ? known : options?.Dimensions ?? 0;
    }

    private static string Difference(IndexSchema existing, IndexSchema wanted)
    {
        for (int i = 0; i < Math.Min(existing.Fields.Count, wanted.Fields.Count); i++)
        {
            if (existing.Fields[i] != wanted.Fields[i])
                return $"Field {i} of the index is {existing.Fields[i]}, the schema it is opened with says {wanted.Fields[i]}.";
        }

        return $"The index has {existing.Fields.Count} fields, the schema it is opened with has {wanted.Fields.Count}.";
    }
}
