using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Maps;

public sealed class BucketPageTests
{
    public static TheoryData<int, int, int> Shapes => new()
    {
        { 8, 8, 8192 }, { 8, 8, 1024 }, { 4, 0, 8192 }, { 16, 100, 2048 }, { 200, 56, 8192 }, { -1, -1, 8192 }, { -1, 8, 1024 },
        { 8, 300, 8192 }, { -1, -1, 15360 },
    };

    [Theory]
    [MemberData(nameof(Shapes))]
    public void A_bucket_holds_what_a_dictionary_holds(int keyBytes, int valueBytes, int pageBytes)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        foreach (ulong hashMask in (ulong[])[ulong.MaxValue, 0xFFFF_FFFF, 0x8000_0F00_0000_0000, 0])
            Run(random, new BucketLayout(keyBytes, valueBytes), pageBytes, new MaskedHash(hashMask));
    }

    [Fact]
    public void A_bucket_of_fixed_records_is_filled_to_fifteen_sixteenths()
    {
        var layout = new BucketLayout(8, 8);
        Span<byte> bytes = new byte[PageLayout.SizeBytes];
        var page = new BucketPage(bytes, layout);
        page.Clear();
        var hashing = new StandardKeyHash(5);
        Span<byte> key = stackalloc byte[8];
        int count = 0;
        for (long i = 0; ; i++)
        {
            BitConverter.TryWriteBytes(key, i);
            if (page.Insert(hashing.Of(key), key, 8, false, hashing) < 0)
                break;
            count++;
        }

        Assert.Equal(464, page.Slots);
        Assert.Equal(435, count);
        Assert.Null(MapShape.FindBucketFault(bytes));
    }

    private static void Run(Random random, BucketLayout layout, int pageBytes, MaskedHash hashing)
    {
        Span<byte> bytes = new byte[pageBytes];
        var page = new BucketPage(bytes, layout);
        page.Clear();
        var model = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        for (int step = 0; step < 3000; step++)
        {
            byte[] key = new byte[layout.KeyBytes >= 0 ? layout.KeyBytes : random.Next(30)];
            int number = random.Next(700);
            for (int i = 0; i < key.Length; i++)
                key[i] = (byte)(number >> (8 * (i & 1)));
            string name = Convert.ToHexString(key);
            ulong hash = hashing.Of(key);
            int slot = page.Find(hash, key);
            Assert.Equal(model.ContainsKey(name), slot >= 0);
            if (slot >= 0)
            {
                Assert.True(page.TryGetValue(slot, out ReadOnlySpan<byte> found, out _));
                Assert.True(found.SequenceEqual(model[name]));
                page.Remove(slot, hashing);
                model.Remove(name);
            }

            if (slot < 0 || random.Next(3) == 0)
            {
                byte[] value = new byte[layout.ValueBytes >= 0 ? layout.ValueBytes : random.Next(60)];
                random.NextBytes(value);
                int at = page.Insert(hash, key, value.Length, false, hashing);
                if (at >= 0)
                {
                    value.CopyTo(page.Value(at, out _));
                    model[name] = value;
                }
            }

            Assert.Equal(model.Count, page.Count);
            if (step % 50 != 0)
                continue;

            Assert.Null(MapShape.FindBucketFault(bytes));
            for (int i = 0; i < page.Slots; i++)
                if (page.IsUsed(i))
                    Assert.True(page.IsReachable(i, hashing.Of(page.Key(i))));
        }
    }

    private readonly struct MaskedHash(ulong mask) : IKeyHash
    {
        public ulong Of(ReadOnlySpan<byte> key) => MapHash.Compute(key, 7) & mask;
    }
}
