using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Format;

public sealed class Blake3Tests : IDisposable
{
    private readonly Random _random = new(Seed.Next());
    private readonly Blake3 _hash = new();

    public void Dispose() => _hash.Dispose();

    /// <summary>The test vectors published by the authors of the function: bytes that count repeatedly from 0 to 250.</summary>
    [Theory]
    [InlineData(0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262")]
    [InlineData(1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213")]
    [InlineData(1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11")]
    [InlineData(1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7")]
    [InlineData(1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444")]
    [InlineData(2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a")]
    [InlineData(3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3")]
    [InlineData(4097, "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995")]
    [InlineData(5121, "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff")]
    [InlineData(6144, "3e2e5b74e048f3add6d21faab3f83aa44d3b2278afb83b80b3c35164ebeca205")]
    [InlineData(7169, "a003fc7a51754a9b3c7fae0367ab3d782dccf28855a03d435f8cfe74605e7817")]
    [InlineData(8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b")]
    [InlineData(16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4")]
    [InlineData(31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47")]
    [InlineData(102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085")]
    public void Published_vectors_come_out(int length, string expected)
    {
        byte[] bytes = [.. Enumerable.Range(0, length).Select(static i => (byte)(i % 251))];
        _hash.Append(bytes);
        Assert.Equal(expected, Convert.ToHexStringLower(_hash.GetCurrentHash()));
        Assert.Equal(expected, Convert.ToHexStringLower(OfTree(bytes)));
    }

    [Fact]
    public void A_stream_in_pieces_of_any_size_is_hashed_as_the_tree_that_it_is()
    {
        const int Subtree = 128 * Blake3Kernel.ChunkBytes;
        foreach (int length in (int[])
        [
            Subtree - 1, Subtree, Subtree + 1, (2 * Subtree) + 1024, 3 * Subtree, (5 * Subtree) + _random.Next(Subtree),
            8 * Subtree, _random.Next(12 * Subtree)
        ])
        {
            byte[] bytes = new byte[length];
            _random.NextBytes(bytes);
            _hash.Reset();
            int most = _random.Next(2) == 0 ? 3_000 : 3 * Subtree;
            for (int at = 0; at < length;)
            {
                int piece = Math.Min(length - at, _random.Next(most));
                _hash.Append(bytes.AsSpan(at, piece));
                at += piece;
                if (_random.Next(50) == 0)
                    Assert.Equal(OfTree(bytes.AsSpan(0, at)), _hash.GetCurrentHash()); // appending continues afterwards
            }

            Assert.Equal(OfTree(bytes), _hash.GetCurrentHash());
        }
    }

    /// <summary>
    /// The definition: a chunk, or a parent whose left child has the largest power of two of chunks that leaves at least one
    /// byte for the right child.
    /// </summary>
    private static byte[] OfTree(ReadOnlySpan<byte> bytes) =>
        MemoryMarshal.AsBytes<uint>(ValueOf(bytes, 0, Blake3Kernel.Root)).ToArray();

    private static uint[] ValueOf(ReadOnlySpan<byte> bytes, ulong counter, uint flags)
    {
        uint[] value = new uint[Blake3Kernel.ValueWords];
        if (bytes.Length <= Blake3Kernel.ChunkBytes)
        {
            Blake3Kernel.HashChunk(bytes, counter, flags, value);
            return value;
        }

        int left = (int)(BitOperations.RoundUpToPowerOf2((uint)bytes.Length) / 2);
        uint[] children =
        [
            .. ValueOf(bytes[..left], counter, 0), .. ValueOf(bytes[left..], counter + (ulong)(left / Blake3Kernel.ChunkBytes), 0)
        ];
        Blake3Kernel.HashParent(children, flags, value);
        return value;
    }
}
