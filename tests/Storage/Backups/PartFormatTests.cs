using System.Numerics;
using System.Text;
using Treepie.Storage.Backups;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Backups;

/// <summary>A part has the format in <c>docs/internals/backup-format.md</c>: it is read here using that page only.</summary>
public sealed class PartFormatTests
{
    private const int PageBytes = 8192;

    private readonly Random _random = new(Seed.Next());

    [Fact]
    public async Task A_snapshot_can_be_read_with_its_page_alone()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("key"u8, new byte[30_000]));
        environment.Write(transaction => transaction.GetOrCreateTree("u").Put("key"u8, "a value"u8));
        (byte[] part, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);

        Assert.Equal([0x89, 0x54, 0x50, 0x50, 0x41, 0x52, 0x54, 0x0A, 3, 0, 1, 0, 0, 0, 0, 0], part[..16]);
        Assert.Equal((environment.StoreId, link.Commit, -1L), (new Guid(part[16..32]), Int64(part, 72), Int64(part, 88)));
        uint mark = UInt32(part, 96);
        Assert.Equal(Crc(part.AsSpan(0, 96)), mark);

        var kinds = new List<int>();
        var pages = new SortedSet<long>();
        long live = 0, expected = 0, at = 100;
        for (int number = 0; ; number++)
        {
            int kind = (int)UInt32(part, at), length = (int)UInt32(part, at + 4);
            byte[] content = part[(int)(at + 24)..(int)(at + 24 + length)];
            Assert.Equal((number, mark), (Int64(part, at + 8), UInt32(part, at + 20)));
            Assert.Equal(Crc([.. part[(int)at..(int)(at + 16)], .. content]), UInt32(part, at + 16));
            kinds.Add(kind);
            if (kind == 1)
            {
                expected = Int64(content, 48);
                Assert.Equal(
                    (environment.StoreId, link.Commit, -1L, expected),
                    (new Guid(content[..16]), Int64(content, 16), Int64(content, 24), Int64(content, 56)));
                Assert.Equal("store", Encoding.UTF8.GetString(content[144..]));
            }
            else if (kind == 2)
            {
                live += content[8..].Sum(bits => BitOperations.PopCount(bits));
            }
            else if (kind == 4)
            {
                ReadPages(content, pages);
            }
            else if (kind == 9)
            {
                Assert.Equal((number, at), (Int64(content, 0), Int64(content, 8)));
                using var hash = new Blake3();
                hash.Append(part.AsSpan(0, (int)at));
                Assert.Equal(hash.GetCurrentHash(), content[16..]);
                Assert.Equal(link.Hash, Convert.ToHexStringLower(content[16..]));
                Assert.Equal(part.Length, at + 24 + length);
                break;
            }

            at += 24 + length;
        }

        Assert.Equal([1, 2, 4, 5, 9], kinds);
        Assert.Equal((expected, live), (pages.Count, expected));
    }

    private static void ReadPages(byte[] content, SortedSet<long> pages)
    {
        for (long at = 0, run = 0; at < content.Length;)
        {
            long first = Int64(content, at), count = UInt32(content, at + 8);
            at += 16;
            for (long page = first; page < first + count; page++, at += PageBytes)
            {
                Assert.True(pages.Add(page) && pages.Max == page);
                if (run-- > 0)
                    continue;
                Assert.Equal(page, Int64(content, at));
                run = content[at + 20] == 4 ? ((64 + UInt32(content, at + 32) + PageBytes - 1) / PageBytes) - 1 : 0;
                Assert.All(content[(int)(at + 40)..(int)(at + 64)], value => Assert.Equal(0, value));
            }
        }
    }

    private static uint Crc(ReadOnlySpan<byte> bytes)
    {
        uint crc = uint.MaxValue;
        foreach (byte value in bytes)
            crc = BitOperations.Crc32C(crc, value);
        return ~crc;
    }

    private static long Int64(byte[] bytes, long at) => BitConverter.ToInt64(bytes, (int)at);

    private static uint UInt32(byte[] bytes, long at) => BitConverter.ToUInt32(bytes, (int)at);
}
