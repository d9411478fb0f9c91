using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Vectors;

/// <summary>
/// Which vectors determine the number of dimensions of a field whose options do not: those that are stored, and those of
/// batches that may still be committed. Nothing else does.
/// </summary>
public sealed class OpenDimensionsTests : IDisposable
{
    private static readonly IndexSchema _schema = new([new IndexField("v", FieldAnalysis.Vector), new IndexField("kind")]);
    private static readonly DateTime _time = new(2026, 11, 21, 0, 0, 0, DateTimeKind.Utc);

    private readonly TemporaryStore _store = new();
    private readonly IndexWriter _writer;

    public OpenDimensionsTests() => _writer = new IndexWriter(_store.Environment, _schema);

    public void Dispose() => _store.Dispose();

    [Fact]
    public void An_entry_that_fails_determines_nothing()
    {
        IndexBatch batch = _writer.BeginBatch();
        batch.BeginEntry("failed"u8);
        batch.AddVector(0, [1, 2, 3]);
        batch.FailEntry("failed", "refused", _time);
        Assert.True(_writer.AreDimensionsOpen);

        Put(batch, "stored", 2);
        Assert.False(_writer.AreDimensionsOpen);
        _writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.Equal(["stored"], Nearest(2));
    }

    [Fact]
    public void Vectors_of_one_entry_have_the_same_number_of_dimensions()
    {
        IndexBatch batch = _writer.BeginBatch();
        batch.BeginEntry("a"u8);
        batch.AddVector(0, [1, 2]);
        InvalidVectorException error = Assert.Throws<InvalidVectorException>(() => batch.AddVector(0, [1, 2, 3]));
        Assert.Equal("Vectors of this field have 2 numbers; this one has 3.", error.Message);
        batch.AddVector(0, [2, 1]);
        batch.EndEntry();
        _writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.Equal(["a"], Nearest(2));
    }

    [Fact]
    public void A_batch_that_is_not_committed_determines_the_number_until_it_is_cleared()
    {
        IndexBatch failed = _writer.BeginBatch(), next = _writer.BeginBatch();
        Put(failed, "a", 3);
        Assert.ThrowsAny<OperationCanceledException>(() => _writer.Commit(failed, 1, new CancellationToken(canceled: true)));
        next.BeginEntry("b"u8);
        Assert.Throws<InvalidVectorException>(() => next.AddVector(0, [1, 2]));
        failed.Clear();
        next.AddVector(0, [1, 2]);
        next.EndEntry();
        _writer.Commit(next, 1, TestContext.Current.CancellationToken);
        Assert.Equal(["b"], Nearest(2));
        Assert.Throws<InvalidVectorException>(() => Put(failed, "a", 3));
    }

    [Fact]
    public void A_commit_that_stores_no_vector_determines_nothing()
    {
        IndexBatch batch = _writer.BeginBatch();
        Put(batch, "a", 3);
        batch.Delete("a"u8);
        _writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.True(_writer.AreDimensionsOpen);
        Put(batch, "a", 2);
        _writer.Commit(batch, 2, TestContext.Current.CancellationToken);
        Assert.Equal(["a"], Nearest(2));
    }

    [Fact]
    public void Vectors_are_accepted_as_a_model_of_stores_and_batches_says()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 40; round++)
        {
            using var store = new TemporaryStore();
            var writer = new IndexWriter(store.Environment, _schema);
            IndexBatch[] batches = [.. Enumerable.Range(0, 3).Select(_ => writer.BeginBatch())];
            var hasVector = new Dictionary<string, bool>[] { [], [], [] }; // by batch, then by key
            bool[] holds = new bool[3];
            int stored = 0, current = 0;
            for (int step = 1; step <= 40; step++)
            {
                int number = random.Next(3);
                IndexBatch batch = batches[number];
                switch (random.Next(10))
                {
                    case 0:
                        batch.Clear();
                        hasVector[number].Clear();
                        holds[number] = false;
                        break;
                    case 1:
                        writer.Commit(batch, step, TestContext.Current.CancellationToken);
                        stored = stored == 0 && hasVector[number].ContainsValue(true) ? current : stored;
                        hasVector[number].Clear();
                        holds[number] = false;
                        break;
                    case 2:
                        int other = (number + 1) % 3;
                        batch.Append(batches[other]);
                        foreach ((string appended, bool has) in hasVector[other])
                            hasVector[number][appended] = has;
                        holds[number] |= holds[other];
                        break;
                    default:
                        string key = $"{number}/{random.Next(4)}"; // batches have keys of their own
                        int length = random.Next(1, 4);
                        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
                        bool isAccepted = current == 0 || length == current;
                        Assert.True(
                            isAccepted == (Record.Exception(() => batch.AddVector(0, new float[length])) is null),
                            $"seed {seed}, round {round}, step {step}: {length} numbers where the model has {current}");
                        bool fails = random.Next(3) == 0;
                        if (fails)
                            batch.FailEntry(key, "refused", _time);
                        else
                            batch.EndEntry();
                        hasVector[number][key] = isAccepted && !fails;
                        holds[number] |= isAccepted && !fails;
                        current = isAccepted && !fails ? length : current;
                        break;
                }

                current = stored > 0 ? stored : holds.Any(static held => held) ? current : 0;
                Assert.Equal(current == 0, writer.AreDimensionsOpen);
            }

            using ReadTransaction read = store.Environment.BeginRead();
            Assert.Equal(stored, VectorState.Read(read.FindTree("links.0")).Dimensions);
        }
    }

    private static void Put(IndexBatch batch, string key, int dimensions)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        try
        {
            batch.AddVector(0, [.. Enumerable.Range(1, dimensions).Select(static number => (float)number)]);
        }
        finally
        {
            batch.EndEntry();
        }
    }

    private List<string> Nearest(int dimensions)
    {
        using var searcher = new IndexSearcher(_store.Environment);
        using SearchResults found = searcher.Search(
            new SearchRequest { Query = new VectorQuery("v", new float[dimensions], 10) },
            cancellationToken: TestContext.Current.CancellationToken);
        return IndexFixture.Read(found);
    }
}
