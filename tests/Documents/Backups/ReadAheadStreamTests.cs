using System.Security.Cryptography;
using Treepie.Backups;
using Treepie.Storage.Files;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Backups;

public sealed class ReadAheadStreamTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Every_byte_arrives_once_and_in_order_however_the_source_is_cut()
    {
        var random = new Random(Seed.Next());
        byte[] content = new byte[9_000_001];
        random.NextBytes(content);
        var source = new Source(content, random.Next());
        await using var ahead = new ReadAheadStream(source);
        var read = new MemoryStream();
        byte[] buffer = new byte[2 * ReadAheadStream.BufferBytes];
        for (int count = -1; count != 0;)
        {
            count = await ahead.ReadAsync(buffer.AsMemory(0, random.Next(1, buffer.Length)), Cancel);
            read.Write(buffer, 0, count);
        }

        Assert.Equal(SHA256.HashData(content), SHA256.HashData(read.ToArray()));
        Assert.Equal(0, await ahead.ReadAsync(buffer, Cancel));
    }

    [Fact]
    public async Task No_more_than_the_buffers_is_read_ahead()
    {
        byte[] content = new byte[40 * ReadAheadStream.BufferBytes];
        long consumed = 0, furthest = 0;
        var source = new Source(content, seed: null)
        {
            Before = position => furthest = Math.Max(furthest, position - Volatile.Read(ref consumed)),
        };
        await using (var ahead = new ReadAheadStream(source))
        {
            byte[] buffer = new byte[1_000];
            for (int count = -1; count != 0;)
            {
                count = await ahead.ReadAsync(buffer, Cancel);
                Volatile.Write(ref consumed, consumed + count);
            }
        }

        Assert.Equal(content.Length, consumed);
        Assert.InRange(furthest, 0, ReadAheadStream.Buffers * ReadAheadStream.BufferBytes);
    }

    [Fact]
    public async Task An_error_of_the_source_follows_the_bytes_before_it()
    {
        byte[] content = new byte[3 * ReadAheadStream.BufferBytes];
        var error = new InvalidDataException("it is cut off");
        var source = new Source(content, seed: null)
        {
            Before = position =>
            {
                if (position == content.Length)
                    throw error;
            },
        };
        await using var ahead = new ReadAheadStream(source);
        byte[] buffer = new byte[content.Length];
        await ahead.ReadExactlyAsync(buffer, Cancel);
        InvalidDataException thrown = await Assert.ThrowsAsync<InvalidDataException>(
            async () => await ahead.ReadExactlyAsync(buffer, Cancel));
        Assert.Same(error, thrown);
    }

    [Fact]
    public async Task Disposing_it_ends_a_read_of_the_source_and_leaves_the_source_open()
    {
        var source = new Endless();
        await using (var ahead = new ReadAheadStream(source))
        {
            await source.Begun.Task.WaitAsync(Cancel);
            using var canceled = new CancellationTokenSource();
            ValueTask<int> waiting = ahead.ReadAsync(new byte[1], canceled.Token);
            Assert.False(waiting.IsCompleted);
            await canceled.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await waiting);
            Assert.False(source.IsCanceled);
        }

        Assert.True(source.IsCanceled);
        Assert.False(source.IsDisposed);
    }

    /// <summary>Gives its content in pieces: random ones with a seed, otherwise as long as wanted.</summary>
    private sealed class Source(byte[] content, int? seed) : ForwardStream
    {
        private readonly Random? _random = seed is { } value ? new Random(value) : null;
        private int _position;

        public override bool CanRead => true;

        /// <summary>Called before each read, with the position.</summary>
        public Action<long>? Before { get; init; }

        public override int Read(Span<byte> buffer)
        {
            Before?.Invoke(_position);
            int most = Math.Min(buffer.Length, content.Length - _position);
            int count = most == 0 || _random is null ? most : _random.Next(1, most + 1);
            content.AsSpan(_position, count).CopyTo(buffer);
            _position += count;
            return count;
        }
    }

    /// <summary>Gives nothing until it is canceled.</summary>
    private sealed class Endless : ForwardStream
    {
        public override bool CanRead => true;

        public TaskCompletionSource Begun { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool IsCanceled { get; private set; }

        public bool IsDisposed { get; private set; }

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Begun.TrySetResult();
            try
            {
                await Task.Delay(Timeout.Infinite, cancellationToken);
                return 0;
            }
            finally
            {
                IsCanceled = true;
            }
        }

        protected override void Dispose(bool disposing)
        {
            IsDisposed = true;
            base.Dispose(disposing);
        }
    }
}
