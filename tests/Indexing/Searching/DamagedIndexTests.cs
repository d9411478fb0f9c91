using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// An index whose file was changed behind its back: each query answers as a scan does, or says that the store is damaged.
/// </summary>
public sealed class DamagedIndexTests
{
    [Theory]
    [InlineData(Damage.Bits)]
    [InlineData(Damage.Zeros)]
    [InlineData(Damage.Swapped)]
    public void Queries_over_damaged_pages_answer_rightly_or_say_so(Damage damage)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var directory = new TemporaryDirectory();
        NaiveIndex model = Fill(directory.Path, random, data);
        string file = Directory.GetFiles(directory.Path).MaxBy(static name => new FileInfo(name).Length)!; // there are files
        byte[] whole = File.ReadAllBytes(file);
        int right = 0, refused = 0;
        for (int round = 0; round < 40; round++)
        {
            byte[] bytes = [.. whole];
            for (int i = random.Next(1, 6); i > 0; i--)
                Change(bytes, damage, random);
            File.WriteAllBytes(file, bytes);
            try
            {
                using StorageEnvironment environment = StorageEnvironment.Open(
                    directory.Path, new StorageOptions { Durability = Durability.Relaxed, ReadOnly = true });
                using var searcher = new IndexSearcher(environment);
                for (int i = 0; i < 20; i++)
                {
                    SearchRequest request = data.Request();
                    try
                    {
                        IndexFixture.Check(searcher, model, request);
                        right++;
                    }
                    catch (CorruptionException error)
                    {
                        Assert.NotEmpty(error.Message);
                        refused++;
                    }
                }
            }
            catch (CorruptionException)
            {
                refused++;
            }
        }

        Assert.True(right > 0 && refused > 0, $"{right} answers, {refused} refusals");
    }

    public enum Damage
    {
        Bits,
        Zeros,
        Swapped,
    }

    private static NaiveIndex Fill(string path, Random random, RandomData data)
    {
        var model = new NaiveIndex(RandomData.Schema);
        using StorageEnvironment environment = StorageEnvironment.Open(
            path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, RandomData.Schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 700; i++)
        {
            (int, FieldValue)[] values = [.. data.Entry()];
            model.Put("docs/" + i, values);
            IndexFixture.Put(batch, "docs/" + i, values);
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        return model;
    }

    /// <summary>Changes bytes behind the two meta pages, which have copies of their own.</summary>
    private static void Change(byte[] bytes, Damage damage, Random random)
    {
        const int Page = 8_192;
        int pages = bytes.Length / Page, page = random.Next(2, pages);
        switch (damage)
        {
            case Damage.Bits:
                bytes[(page * Page) + random.Next(Page)] ^= (byte)(1 << random.Next(8));
                break;
            case Damage.Zeros:
                int from = random.Next(Page);
                bytes.AsSpan((page * Page) + from, Page - from).Clear();
                break;
            default:
                int other = random.Next(2, pages);
                byte[] held = bytes.AsSpan(page * Page, Page).ToArray();
                bytes.AsSpan(other * Page, Page).CopyTo(bytes.AsSpan(page * Page));
                held.CopyTo(bytes.AsSpan(other * Page));
                break;
        }
    }
}
