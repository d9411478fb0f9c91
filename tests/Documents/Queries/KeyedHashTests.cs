using Treepie.Indexes.States;

namespace Treepie.Documents.Tests.Queries;

public sealed class KeyedHashTests
{
    [Theory]
    [InlineData(0, "a3817f04ba25a8e66df67214c7550293")]
    [InlineData(1, "da87c1d86b99af44347659119b22fc45")]
    public void Hashes_are_those_of_the_reference(int length, string expected)
    {
        byte[] key = [.. Enumerable.Range(0, KeyedHash.KeyBytes).Select(static i => (byte)i)];
        byte[] hash = new byte[16];
        System.Buffers.Binary.BinaryPrimitives.WriteUInt128LittleEndian(hash, new KeyedHash(key).Of(key.AsSpan(0, length)));
        Assert.Equal(expected, Convert.ToHexStringLower(hash));
    }

    [Fact]
    public void Every_byte_and_the_length_tell()
    {
        var hash = KeyedHash.Random();
        var seen = new HashSet<UInt128>();
        byte[] text = new byte[40];
        for (int length = 0; length <= text.Length; length++)
        {
            Assert.True(seen.Add(hash.Of(text.AsSpan(0, length))), $"{length} zeros");
            for (int at = 0; at < length; at++)
            {
                text[at] = 1;
                Assert.True(seen.Add(hash.Of(text.AsSpan(0, length))), $"{length} bytes, a one at {at}");
                text[at] = 0;
            }
        }
    }
}
