using System.Globalization;
using System.Text;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

public sealed class EntryReaderTests
{
    [Fact]
    public void Entries_read_one_after_another_are_those_that_a_new_reader_finds()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, new IndexSchema([new IndexField("name"), new IndexField("number")]));
        long last = 0;
        for (int commit = 0; commit < 5; commit++)
        {
            IndexBatch batch = writer.BeginBatch();
            for (int i = 0; i < 400; i++, last++)
            {
                byte[] key = Encoding.UTF8.GetBytes($"e/{random.Next(700)}{new string('x', random.Next(30) == 0 ? 300 : 0)}");
                if (random.Next(10) == 0)
                {
                    batch.Delete(key);
                    continue;
                }

                batch.BeginEntry(key);
                if (random.Next(20) > 0)
                    batch.AddText(0, Encoding.UTF8.GetBytes("name " + random.Next(40)));
                for (int values = random.Next(30) == 0 ? 3 : 1; values > 0; values--)
                    batch.AddLong(1, random.Next(1_000));
                batch.EndEntry();
            }

            writer.Commit(batch, commit + 1, TestContext.Current.CancellationToken);
        }

        using ReadTransaction read = store.Environment.BeginRead();
        var reader = new EntryReader(name => read.FindTree(name));
        int found = 0;
        for (int round = 0; round < 200; round++)
        {
            long id = random.Next((int)last);
            for (int i = 0; i < 40; i++, id += random.Next(8) switch { 0 => random.Next(9), 1 => -random.Next(5), 2 => 30, _ => 1 })
            {
                string expected = Text(new EntryReader(name => read.FindTree(name)), id);
                Assert.True(expected == Text(reader, id), $"Seed {seed}, entry {id}");
                found += expected.Length > 0 ? 1 : 0;
                if (random.Next(200) == 0)
                    reader.Reset();
            }
        }

        Assert.True(found > 1_000, $"Seed {seed}: only {found} entries.");
    }

    /// <summary>The key and items of an entry; empty if it does not exist.</summary>
    private static string Text(EntryReader reader, long id)
    {
        if (id < 0 || !reader.TryGet(id, out EntryRecord record))
            return "";

        var text = new StringBuilder(Encoding.UTF8.GetString(record.Key));
        while (record.MoveNextGroup())
        {
            text.Append(CultureInfo.InvariantCulture, $" {record.Field} {record.Group}");
            while (record.MoveNextItem(out ReadOnlySpan<byte> item))
                text.Append(' ').Append(Convert.ToHexString(item));
        }

        return text.ToString();
    }
}
