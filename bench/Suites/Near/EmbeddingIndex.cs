using System.Buffers.Binary;
using Treepie.Indexing;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;

namespace Treepie.Bench.Suites.Near;

/// <summary>
/// Vectors as models make them, that is, in clusters of different sizes, in an index of ours. Every tenth entry is of the kind
/// "few", every hundredth "rare".
/// </summary>
internal sealed class EmbeddingIndex : IDisposable
{
    public const int Dimensions = 96;
    private const int Clusters = 200;

    private static readonly IndexSchema _schema = new([new IndexField("v", FieldAnalysis.Vector), new IndexField("kind")]);

    private readonly StorageEnvironment _environment;
    private readonly Random _random = new(11);
    private readonly float[][] _centres;

    public EmbeddingIndex(string path, int count, CancellationToken cancellationToken)
    {
        _centres = [.. Enumerable.Range(0, Clusters).Select(_ => Gaussian(1))];
        _environment = StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(_environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        byte[] key = new byte[sizeof(int)];
        for (int i = 0; i < count; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, i);
            batch.BeginEntry(key);
            batch.AddVector(0, Draw());
            batch.AddText(1, i % 100 == 0 ? "rare"u8 : i % 10 == 0 ? "few"u8 : "other"u8);
            batch.EndEntry();
            if (batch.SizeBytes > 16 << 20 || i + 1 == count)
                writer.Commit(batch, i + 1, cancellationToken);
        }
    }

    /// <summary>A vector like those in the index.</summary>
    public float[] Draw()
    {
        // Squared, so that some clusters are large.
        double place = _random.NextDouble();
        float[] centre = _centres[(int)(place * place * Clusters)], vector = Gaussian(0.6);
        for (int i = 0; i < Dimensions; i++)
            vector[i] += centre[i];
        return vector;
    }

    /// <summary>Entries of the nearest ten.</summary>
    public long[] Nearest(float[] wanted, string? kind, bool exact)
    {
        IndexQuery query = new VectorQuery("v", wanted, 10, IsExact: exact);
        if (kind is not null)
            query = new AndQuery([new TermQuery("kind", FieldValue.Of(kind)), query]);
        using var searcher = new IndexSearcher(_environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = [new SortKey("", SortKind.Score, Descending: true)] });
        long[] found = new long[results.Count];
        for (int i = 0; results.MoveNext(); i++)
            found[i] = results.EntryId;
        return found;
    }

    public void Dispose() => _environment.Dispose();

    private float[] Gaussian(double deviation)
    {
        var vector = new float[Dimensions];
        for (int i = 0; i < Dimensions; i++)
            vector[i] = (float)(deviation * Math.Sqrt(-2 * Math.Log(1 - _random.NextDouble()))
                * Math.Cos(2 * Math.PI * _random.NextDouble()));
        return vector;
    }
}
