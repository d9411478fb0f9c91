using System.Text;
using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>The terms of a batch and who has them, against dictionaries.</summary>
public sealed class TermTableTests
{
    private static readonly Comparer<byte[]> _order = Comparer<byte[]>.Create(static (x, y) => x.AsSpan().SequenceCompareTo(y));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Terms_have_the_owners_frequencies_and_positions_that_were_added(bool keepsPositions)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var table = new TermTable();
        for (int round = 0; round < 60; round++)
        {
            var model = new Model();
            Fill(table, model, random, keepsPositions, owners: random.Next(1, 60));
            AssertSame(table, model, keepsPositions, $"seed {seed}, round {round}");

            // Sorting and grouping do not prevent further additions.
            Fill(table, model, random, keepsPositions, owners: random.Next(5));
            AssertSame(table, model, keepsPositions, $"seed {seed}, round {round}, after more");
            table.Clear(random.Next(2) == 0 ? 0 : 1 << 20);
            Assert.Equal((0, 0), (table.Count, table.OccurrenceCount));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_table_with_others_appended_is_one_that_was_given_everything(bool keepsPositions)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 60; round++)
        {
            TermTable whole = new(), joined = new();
            var model = new Model();
            for (int part = random.Next(1, 5); part > 0; part--)
            {
                var next = new TermTable();
                var own = new Model();
                Fill(next, own, random, keepsPositions, owners: random.Next(20));
                int[] ordinals = new int[next.Count + random.Next(3)];
                int first = model.Owners;
                long shared = own.Terms.Keys.Where(model.Terms.ContainsKey).Sum(static term => term.Length + 40L);
                Assert.Equal(shared, joined.Append(next, first, ordinals, bytesBeside: 40));
                for (int i = 0; i < next.Count; i++)
                    Assert.True(next[i].SequenceEqual(joined[ordinals[i]]), $"seed {seed}, round {round}");
                foreach ((byte[] term, int owner, int position) in own.Log)
                {
                    model.Add(term, first + owner, position);
                    Add(whole, term, first + owner, position, keepsPositions);
                }

                model.Owners = first + own.Owners;
            }

            AssertSame(joined, model, keepsPositions, $"seed {seed}, round {round}");
            for (int i = 0; i < whole.Count; i++)
                Assert.True(whole[i].SequenceEqual(joined[i]), $"seed {seed}, round {round}: ordinals are in order of arrival");
        }
    }

    [Fact]
    public void Texts_and_the_texts_of_numbers_are_united_by_owner()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] key = new byte[NumberKey.Bytes];
        for (int round = 0; round < 100; round++)
        {
            TermTable texts = new(), numbers = new(), united = new();
            var model = new Model();
            for (int owner = 0; owner < 30; owner++)
            {
                for (int count = random.Next(4); count > 0; count--)
                {
                    long number = random.Next(-5, 20);
                    bool isText = random.Next(2) == 0;
                    if (isText)
                    {
                        texts.Add(Encoding.ASCII.GetBytes($"{number}"), owner, out _);
                    }
                    else
                    {
                        NumberKey.Write(key, number);
                        numbers.Add(key, owner, out _);
                    }

                    model.Add(Encoding.ASCII.GetBytes($"{number}"), owner, 0);
                }
            }

            united.Unite(texts, numbers);
            AssertSame(united, model, false, $"seed {seed}, round {round}");
        }
    }

    private static void Fill(TermTable table, Model model, Random random, bool keepsPositions, int owners)
    {
        for (int end = model.Owners + owners; model.Owners < end; model.Owners++)
        {
            int position = 0;
            for (int count = random.Next(12); count > 0; count--)
            {
                byte[] term = Term(random);
                position += random.Next(1, 300);
                bool isFirst = !model.Terms.TryGetValue(term, out SortedDictionary<int, List<int>>? known)
                    || !known.ContainsKey(model.Owners);
                Assert.Equal(isFirst, Add(table, term, model.Owners, position, keepsPositions));
                model.Add(term, model.Owners, position);
            }
        }
    }

    private static bool Add(TermTable table, byte[] term, int owner, int position, bool keepsPositions) => keepsPositions
        ? table.Add(term, table.Hash(term), owner, position, out _)
        : table.Add(term, owner, out _);

    private static void AssertSame(TermTable table, Model model, bool keepsPositions, string what)
    {
        Assert.Equal((model.Terms.Count, model.Log.DistinctBy(static one => (Convert.ToHexString(one.Term), one.Owner)).Count()),
            (table.Count, table.OccurrenceCount));
        ReadOnlySpan<int> ordinals = table.SortedOrdinals();
        TermOccurrences grouped = table.GroupByTerm();
        int place = 0;
        foreach ((byte[] term, SortedDictionary<int, List<int>> owners) in model.Terms)
        {
            Assert.True(table.InOrder(place).SequenceEqual(term) && table[ordinals[place]].SequenceEqual(term), what);
            Assert.Equal(ordinals[place], table.Intern(term));
            Assert.Equal(owners.Count, table.OccurrencesOf(ordinals[place]));
            int at = grouped.Starts[place];
            Assert.Equal(owners.Count, grouped.Starts[++place] - at);
            foreach ((int owner, List<int> positions) in owners)
            {
                Assert.True(grouped.Owners[at] == owner && grouped.Frequencies[at] == positions.Count, what);
                if (keepsPositions)
                    Assert.True(
                        grouped.Positions[grouped.PositionStarts[at]..grouped.PositionStarts[at + 1]]
                            .SequenceEqual(positions.ToArray()),
                        what);
                at++;
            }
        }
    }

    /// <summary>Terms of which many share their first eight bytes, and a few differ by zeros at their end.</summary>
    private static byte[] Term(Random random) => random.Next(4) switch
    {
        0 => new byte[random.Next(12)],
        1 => Encoding.ASCII.GetBytes($"{random.Next(50)}"),
        2 => Encoding.ASCII.GetBytes($"prefix of eight {random.Next(30)}"),
        _ => Encoding.ASCII.GetBytes(new string((char)('a' + random.Next(3)), random.Next(600))),
    };

    /// <summary>Owners by term, and the positions of each; and everything in the order of its arrival.</summary>
    private sealed class Model
    {
        public SortedDictionary<byte[], SortedDictionary<int, List<int>>> Terms { get; } = new(_order);

        public List<(byte[] Term, int Owner, int Position)> Log { get; } = [];

        public int Owners { get; set; }

        public void Add(byte[] term, int owner, int position)
        {
            if (!Terms.TryGetValue(term, out SortedDictionary<int, List<int>>? owners))
                Terms.Add(term, owners = []);
            if (!owners.TryGetValue(owner, out List<int>? positions))
                owners.Add(owner, positions = []);
            positions.Add(position);
            Log.Add((term, owner, position));
        }
    }
}
