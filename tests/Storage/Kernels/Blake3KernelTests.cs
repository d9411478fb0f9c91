using Treepie.Storage.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Kernels;

public sealed class Blake3KernelTests
{
    private readonly Random _random = new(Seed.Next());

    [Fact]
    public void Chunks_that_are_hashed_at_once_come_to_what_they_do_one_by_one()
    {
        foreach (ulong counter in (ulong[])[0, 1, uint.MaxValue - 11, (ulong)_random.NextInt64()])
        {
            for (int count = 0; count < 45; count++)
            {
                byte[] chunks = new byte[count * Blake3Kernel.ChunkBytes];
                _random.NextBytes(chunks);
                uint[] expected = new uint[count * Blake3Kernel.ValueWords], values = new uint[count * Blake3Kernel.ValueWords];
                Blake3Kernel.HashChunksScalar(chunks, counter, expected);
                Blake3Kernel.HashChunks(chunks, counter, values);
                Assert.Equal(expected, values);
            }
        }
    }

    [Fact]
    public void Parents_are_the_same_together_and_alone_and_may_take_the_place_of_their_children()
    {
        const int PairWords = 2 * Blake3Kernel.ValueWords;
        for (int count = 0; count < 45; count++)
        {
            uint[] children = new uint[count * PairWords], expected = new uint[count * Blake3Kernel.ValueWords];
            _random.NextBytes(System.Runtime.InteropServices.MemoryMarshal.AsBytes(children.AsSpan()));
            for (int pair = 0; pair < count; pair++)
                Blake3Kernel.HashParent(
                    children.AsSpan(pair * PairWords, PairWords), 0,
                    expected.AsSpan(pair * Blake3Kernel.ValueWords, Blake3Kernel.ValueWords));
            Blake3Kernel.HashParents(children, children);
            Assert.Equal(expected, children[..expected.Length]);
        }
    }
}
