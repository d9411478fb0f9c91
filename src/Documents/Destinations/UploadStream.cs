using System.Collections.Concurrent;
using System.Threading.Channels;
using Treepie.Storage.Files;

namespace Treepie.Destinations;

/// <summary>
/// A stream that writes to several uploads at once. Each upload has a worker and a bounded queue: while one waits for its
/// network, the others continue, until its queue is full. An upload that fails is dropped and its error kept; so is one that
/// accepts nothing for <see cref="StallTimeout"/> while another is ready. Writing fails only when no upload is left. Uses ten
/// blocks of 256 KiB per upload. Not thread-safe.
/// </summary>
public sealed class UploadStream : ForwardStream
{
    /// <summary>The number of bytes passed on at once.</summary>
    private const int BlockBytes = 256 * 1024;

    /// <summary>The maximum number of blocks in a queue.</summary>
    private const int QueuedBlocks = 8;

    /// <summary>The maximum time that an upload may block the others.</summary>
    public static readonly TimeSpan StallTimeout = TimeSpan.FromMinutes(5);

    private readonly Lane[] _lanes;
    private readonly TimeProvider _clock;
    private readonly ConcurrentBag<Block> _spare = [];
    private Block _block = new();
    private int _filled;

    /// <summary>Creates a stream that writes to the specified uploads and disposes them.</summary>
    public UploadStream(
        IEnumerable<(string Address, BackupUpload Upload)> uploads, TimeProvider clock, CancellationToken cancellationToken)
    {
        _clock = clock;
        _lanes = [.. uploads.Select(upload => new Lane(upload.Address, upload.Upload, _spare, cancellationToken))];
    }

    /// <inheritdoc/>
    public override bool CanWrite => true;

    /// <summary>The errors of the uploads that failed, by address.</summary>
    // The filter ensures that Failure is not null.
    public IReadOnlyDictionary<string, Exception> Failures =>
        _lanes.Where(static lane => lane.Failure is not null)
            .ToDictionary(static lane => lane.Address, static lane => lane.Failure!);

    /// <summary>Flushes the rest, waits until everything is written, and commits the uploads that have not failed.</summary>
    /// <exception cref="DestinationException">All uploads failed; contains the reason of the first.</exception>
    public async Task CommitAsync(CancellationToken cancellationToken)
    {
        if (_filled > 0)
            await HandOnAsync(cancellationToken).ConfigureAwait(false);
        await Task.WhenAll(_lanes.Select(lane => lane.CommitAsync(cancellationToken))).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        ThrowIfNoneIsLeft();
    }

    /// <inheritdoc/>
    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (!buffer.IsEmpty)
        {
            buffer = buffer[Take(buffer.Span)..];
            if (_filled == BlockBytes)
                await HandOnAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Writes synchronously; blocks the thread if a queue is full.</summary>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            buffer = buffer[Take(buffer)..];
            if (_filled == BlockBytes)
                HandOnAsync(CancellationToken.None).AsTask().GetAwaiter().GetResult();
        }
    }

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        foreach (Lane lane in _lanes)
            await lane.DisposeAsync().ConfigureAwait(false);
        await base.DisposeAsync().ConfigureAwait(false);
    }

    private int Take(ReadOnlySpan<byte> buffer)
    {
        int taken = Math.Min(buffer.Length, BlockBytes - _filled);
        buffer[..taken].CopyTo(_block.Bytes.AsSpan(_filled));
        _filled += taken;
        return taken;
    }

    private async ValueTask HandOnAsync(CancellationToken cancellationToken)
    {
        Block block = _block;
        block.Begin(_filled, _lanes.Length);
        _block = _spare.TryTake(out Block? spare) ? spare : new Block();
        _filled = 0;
        await Task.WhenAll(_lanes.Select(lane => HandOnAsync(lane, block, cancellationToken))).ConfigureAwait(false);
        ThrowIfNoneIsLeft();
    }

    private async Task HandOnAsync(Lane lane, Block block, CancellationToken cancellationToken)
    {
        if (lane.TryAdd(block))
            return;

        bool isAlone = Array.TrueForAll(_lanes, other => other == lane || other.Failure is not null);
        using var stalled = new CancellationTokenSource(isAlone ? Timeout.InfiniteTimeSpan : StallTimeout, _clock);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(stalled.Token, cancellationToken);
        try
        {
            await lane.AddAsync(block, either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            lane.Fail(new DestinationException(
                DestinationFault.TooSlow,
                $"'{lane.Address}' took nothing for {StallTimeout.TotalMinutes:N0} minutes and kept the other places waiting, so "
                    + $"the backup continues without it. Check its connection."));
        }
    }

    private void ThrowIfNoneIsLeft()
    {
        if (Array.TrueForAll(_lanes, static lane => lane.Failure is not null))
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(_lanes[0].Failure!); // every lane has failed
    }

    /// <summary>
    /// A block read by several uploads; reused after the last of them. A block of an upload that failed is not reused, since it
    /// may still be reading it.
    /// </summary>
    private sealed class Block
    {
        private int _readers;
        private int _length;

        public byte[] Bytes { get; } = GC.AllocateUninitializedArray<byte>(BlockBytes);

        public ReadOnlyMemory<byte> Content => Bytes.AsMemory(0, _length);

        public void Begin(int length, int readers) => (_length, _readers) = (length, readers);

        /// <summary>Called by each reader when it is done. Returns true for the last one.</summary>
        public bool Release() => Interlocked.Decrement(ref _readers) == 0;
    }

    /// <summary>One upload with its queue.</summary>
    private sealed class Lane : IAsyncDisposable
    {
        private readonly BackupUpload _upload;
        private readonly Channel<Block> _queue = Channel.CreateBounded<Block>(
            new BoundedChannelOptions(QueuedBlocks) { SingleReader = true, SingleWriter = true });
        private readonly ConcurrentBag<Block> _spare;
        private readonly CancellationTokenSource _stop;
        private readonly Task _work;
        private Exception? _failure;

        public Lane(string address, BackupUpload upload, ConcurrentBag<Block> spare, CancellationToken cancellationToken)
        {
            Address = address;
            _upload = upload;
            _spare = spare;
            _stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            _work = Task.Run(WorkAsync, CancellationToken.None);
        }

        public string Address { get; }

        public Exception? Failure => Volatile.Read(ref _failure);

        public bool TryAdd(Block block) => Failure is not null || _queue.Writer.TryWrite(block);

        public async Task AddAsync(Block block, CancellationToken cancellationToken)
        {
            try
            {
                await _queue.Writer.WriteAsync(block, cancellationToken).ConfigureAwait(false);
            }
            catch (ChannelClosedException)
            {
                // The upload has failed meanwhile.
            }
        }

        public async Task CommitAsync(CancellationToken cancellationToken)
        {
            _queue.Writer.TryComplete();
            await _work.ConfigureAwait(false);
            if (Failure is not null)
                return;

            try
            {
                await _upload.CommitAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (Exception error) when (error is DestinationException or OperationCanceledException)
            {
                Fail(error);
            }
        }

        public void Fail(Exception error)
        {
            Interlocked.CompareExchange(ref _failure, error, null);
            _queue.Writer.TryComplete();
            _stop.Cancel();
        }

        public async ValueTask DisposeAsync()
        {
            await _stop.CancelAsync().ConfigureAwait(false);
            _queue.Writer.TryComplete();
            await _work.ConfigureAwait(false);
            await _upload.DisposeAsync().ConfigureAwait(false);
            _stop.Dispose();
        }

        private async Task WorkAsync()
        {
            try
            {
                await foreach (Block block in _queue.Reader.ReadAllAsync(_stop.Token).ConfigureAwait(false))
                {
                    await _upload.WriteAsync(block.Content, _stop.Token).ConfigureAwait(false);
                    if (block.Release())
                        _spare.Add(block);
                }
            }
            catch (Exception error)
            {
                // Any exception belongs to this upload and must not end the others.
                Fail(error);
            }
        }
    }
}
