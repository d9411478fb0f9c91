using System.Buffers;
using Treepie.Server.Http;
using Treepie.Server.Limits;

namespace Treepie.Server.Tests.Limits;

public sealed class RequestBodyTests
{
    [Fact]
    public void Memory_is_taken_as_bytes_come_and_given_back()
    {
        var budget = new BufferBudget(1L << 30);
        byte[] piece = new byte[10_000];
        new Random(7).NextBytes(piece);
        using (var body = new RequestBody(budget.Open()))
        {
            for (int i = 1; i <= 1_000; i++)
            {
                body.Append(new ReadOnlySequence<byte>(piece), expected: 128 << 20);
                Assert.InRange(budget.HeldBytes, body.Length, (3L * body.Length) + (64 * 1024));
            }

            Assert.Equal(10_000_000, body.Length);
            Assert.True(body.Span[^10_000..].SequenceEqual(piece));
            body.Hold(500);
        }

        Assert.Equal(0, budget.HeldBytes);
    }

    [Fact]
    public void A_body_beyond_what_all_may_hold_is_refused_and_gives_back_what_it_held()
    {
        var budget = new BufferBudget(100_000);
        byte[] piece = new byte[30_000];
        var body = new RequestBody(budget.Open());
        WireException busy = Assert.Throws<WireException>(() =>
        {
            for (int i = 0; i < 10; i++)
                body.Append(new ReadOnlySequence<byte>(piece), expected: null);
        });
        Assert.Equal(503, busy.StatusCode);
        Assert.Contains("100,000", busy.Message, StringComparison.Ordinal);
        Assert.InRange(budget.HeldBytes, 1, 100_000);
        body.Dispose();
        body.Dispose();
        Assert.Equal(0, budget.HeldBytes);
    }
}
