using System.Buffers;

namespace Treepie.Server.Http;

/// <summary>
/// A request's body in one pooled buffer. Give it back with <see cref="Return"/> only when nothing can read it any more: after a write that
/// was cancelled the writer may still be at it, and then the buffer is left to the collector.
/// </summary>
internal sealed class RequestBody(byte[] buffer, int length, bool pooled)
{
    public static RequestBody Empty { get; } = new([], 0, pooled: false);

    public ReadOnlyMemory<byte> Memory => buffer.AsMemory(0, length);

    public ReadOnlySpan<byte> Span => buffer.AsSpan(0, length);

    public int Length => length;

    public void Return()
    {
        if (pooled)
            ArrayPool<byte>.Shared.Return(buffer);
    }
}
