using System.Numerics;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

/// <summary>Numbers in few bytes and in any number of bits come back as they were written, one behind the other.</summary>
public sealed class CompactNumberTests
{
    [Fact]
    public void Numbers_come_back_from_few_bytes_as_they_were()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 300; round++)
        {
            byte[][] numbers = [.. Enumerable.Range(0, random.Next(40)).Select(_ => Number(random))];
            byte[] output = new byte[(numbers.Length * CompactNumber.MaxBytes) + 3];
            random.NextBytes(output);
            int length = 0;
            var lengths = new List<int>();
            foreach (byte[] number in numbers)
            {
                int own = CompactNumber.Write(output.AsSpan(length), number);
                Assert.InRange(own, 1, CompactNumber.MaxBytes);
                lengths.Add(own);
                length += own;
            }

            ReadOnlySpan<byte> rest = output.AsSpan(0, length);
            byte[] read = new byte[NumberKey.Bytes];
            for (int i = 0; i < numbers.Length; i++)
            {
                Assert.Equal(lengths[i], CompactNumber.BytesOf(rest));
                CompactNumber.Read(ref rest, read);
                Assert.True(numbers[i].AsSpan().SequenceEqual(read), $"seed {seed}, round {round}, number {i}");
            }

            Assert.True(rest.IsEmpty, $"seed {seed}, round {round}");
        }
    }

    [Theory]
    [InlineData(0L, 1)]
    [InlineData(-1L, 1)]
    [InlineData(31L, 1)]
    [InlineData(32L, 2)]
    [InlineData(-32L, 1)]
    [InlineData(-33L, 2)]
    public void Small_whole_numbers_take_one_byte(long number, int bytes)
    {
        byte[] key = new byte[NumberKey.Bytes], output = new byte[CompactNumber.MaxBytes];
        NumberKey.Write(key, number);
        Assert.Equal(bytes, CompactNumber.Write(output, key));
    }

    /// <summary>The bits are one large number: each value stands at its bit in it.</summary>
    [Fact]
    public void Bits_are_written_and_read_as_one_large_number()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 500; round++)
        {
            (int Bits, long Value)[] values = [.. Enumerable.Range(0, random.Next(50)).Select(_ => Value(random))];
            BigInteger all = 0;
            int bits = 0;
            byte[] output = new byte[(values.Sum(value => value.Bits) / 8) + 1];
            random.NextBytes(output);
            var writer = new BitWriter(output);
            foreach ((int width, long value) in values)
            {
                writer.Write(value, width);
                all += new BigInteger(value) << bits;
                bits += width;
            }

            int length = writer.End();
            Assert.Equal((bits + 7) / 8, length);
            Assert.Equal(all, new BigInteger(output.AsSpan(0, length), isUnsigned: true));

            // Bytes behind the bits do not matter.
            byte[] followed = [.. output.AsSpan(0, length), .. Enumerable.Range(0, random.Next(12)).Select(_ => (byte)255)];
            var reader = new BitReader(followed);
            int place = 0;
            foreach ((int width, long value) in values)
            {
                Assert.True(value == reader.Read(width), $"seed {seed}, round {round}");
                place += width;
                Assert.Equal((place + 7) / 8, reader.Bytes);
            }
        }
    }

    [Fact]
    public void Zeros_are_counted_to_the_next_one_and_bits_that_end_are_reported()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 500; round++)
        {
            int[] zeros = [.. Enumerable.Range(0, random.Next(1, 20)).Select(_ => random.Next(random.Next(3) == 0 ? 56 : 6))];
            byte[] output = new byte[(zeros.Sum(count => count + 1) / 8) + 1];
            var writer = new BitWriter(output);
            foreach (int count in zeros)
            {
                writer.Write(0, count);
                writer.Write(1, 1);
            }

            byte[] written = output[..writer.End()];
            var reader = new BitReader(written);
            foreach (int count in zeros)
                Assert.True(count == reader.ReadZeros(), $"seed {seed}, round {round}");
            Assert.Equal(written.Length, reader.Bytes);
            Assert.Throws<CorruptionException>(() => ReadPast(written, isZeros: true));
            Assert.Throws<CorruptionException>(() => ReadPast(written, isZeros: false));
        }
    }

    private static void ReadPast(byte[] written, bool isZeros)
    {
        var reader = new BitReader(written);
        for (int i = 0; i <= written.Length * 8; i++)
        {
            if (isZeros)
                reader.ReadZeros();
            else
                reader.Read(1 + (i % BitReader.MaxBits));
        }
    }

    private static (int Bits, long Value) Value(Random random)
    {
        int bits = random.Next(BitReader.MaxBits + 1);
        return (bits, random.NextInt64() & ((1L << bits) - 1));
    }

    private static byte[] Number(Random random)
    {
        byte[] number = new byte[NumberKey.Bytes];
        switch (random.Next(4))
        {
            case 0:
                NumberKey.Write(number, random.Next(-70, 70));
                break;
            case 1:
                long edge = 1L << random.Next(63);
                NumberKey.Write(number, (random.Next(2) == 0 ? edge : -edge) + random.Next(-2, 3));
                break;
            case 2:
                NumberKey.Write(number, random.Next(2) == 0 ? long.MinValue : long.MaxValue);
                break;
            default:
                NumberKey.Write(number, (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-300, 300)));
                break;
        }

        return number;
    }
}
