using System.Text;
using Treepie.Storage.Format;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Format;

public class Crc32CTests
{
    [Fact]
    public void The_checksum_is_the_one_everybody_calls_CRC_32C() =>
        Assert.Equal(0xE3069283u, ~Crc32C.Append(uint.MaxValue, Encoding.ASCII.GetBytes("123456789")));

    [Fact]
    public void Three_streams_make_the_same_of_any_bytes_as_one()
    {
        var random = new Random(Seed.Next());
        byte[] bytes = new byte[60_000];
        random.NextBytes(bytes);
        for (int i = 0; i < 300; i++)
        {
            int from = random.Next(64);
            int length = i < 100 ? (2704 * 3) - 50 + i : random.Next(bytes.Length - from);
            uint crc = (uint)random.NextInt64();
            if (i % 10 == 0)
                bytes.AsSpan(from, length).Clear();

            Assert.Equal(Crc32C.AppendScalar(crc, bytes.AsSpan(from, length)), Crc32C.Append(crc, bytes.AsSpan(from, length)));
        }
    }

    [Fact]
    public void Every_bit_of_a_page_counts()
    {
        byte[] page = new byte[PageLayout.SizeBytes];
        new Random(Seed.Next()).NextBytes(page);
        uint whole = Page.ComputeChecksum(page);
        for (int bit = 0; bit < page.Length * 8; bit += 7)
        {
            if (bit / 32 == PageLayout.ChecksumOffset / 4)
                continue;

            page[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.NotEqual(whole, Page.ComputeChecksum(page));
            page[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }
}
