using System.Collections.Concurrent;
using Amazon.S3.Model;
using Treepie.Destinations;

namespace Treepie.S3;

/// <summary>
/// A multipart upload of one object. While one part is filled, up to two are being sent. A part that fails is resent from memory,
/// and parts that have arrived are kept, so a temporary outage costs only the parts in flight. An object that fits into one part
/// is sent with one request.
/// </summary>
/// <remarks>
/// Memory: three parts, 24 MiB by default. S3 allows at most 10,000 parts, so from part <see cref="SmallParts"/> on they are
/// twice as large: 48 MiB of memory, and at most 150 GB per object.
/// </remarks>
internal sealed class S3Upload : BackupUpload
{
    private const int MaxSending = 2;
    private const int MaxParts = 10_000;
    private const int SmallParts = 1_000;

    private static readonly TimeSpan _abortTimeout = TimeSpan.FromSeconds(30);

    private readonly S3Destination _destination;
    private readonly string _key;
    private readonly string _name;
    private readonly SemaphoreSlim _room = new(MaxSending);
    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentBag<byte[]> _spare = [];
    private readonly ConcurrentBag<PartETag> _arrived = [];
    private readonly List<Task> _sending = [];
    private byte[] _part;
    private int _filled;
    private int _number;
    private long _sentBytes;
    private string? _uploadId;
    private Exception? _failure;
    private bool _committed;

    public S3Upload(S3Destination destination, string key, string name)
    {
        _destination = destination;
        _key = key;
        _name = name;
        _part = GC.AllocateUninitializedArray<byte>(destination.PartBytes);
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default)
    {
        while (!bytes.IsEmpty)
        {
            if (_filled == _part.Length)
                await SendPartAsync(cancellationToken).ConfigureAwait(false);
            int taken = Math.Min(bytes.Length, _part.Length - _filled);
            bytes[..taken].CopyTo(_part.AsMemory(_filled));
            _filled += taken;
            bytes = bytes[taken..];
        }
    }

    public override async Task CommitAsync(CancellationToken cancellationToken = default)
    {
        if (_uploadId is null)
        {
            await _destination.RunAsync(
                (client, bucket, stop) => client.PutObjectAsync(
                    new PutObjectRequest
                    {
                        BucketName = bucket,
                        Key = _key,
                        InputStream = new MemoryStream(_part, 0, _filled, writable: false),
                        UseChunkEncoding = false,
                        DisablePayloadSigning = _destination.IsSecure
                    }, stop),
                cancellationToken).ConfigureAwait(false);
        }
        else
        {
            if (_filled > 0)
                await SendPartAsync(cancellationToken).ConfigureAwait(false);
            await Task.WhenAll(_sending).ConfigureAwait(false);
            ThrowIfFailed();
            await CompleteAsync(_uploadId, cancellationToken).ConfigureAwait(false);
        }

        _committed = true;
    }

    protected override async ValueTask DisposeCoreAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(_sending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_committed && _uploadId is not null)
        {
            using var patience = new CancellationTokenSource(_abortTimeout);
            await _destination.AbortAsync(_key, _uploadId, patience.Token).ConfigureAwait(false);
        }

        _room.Dispose();
        _stop.Dispose();
    }

    private async Task SendPartAsync(CancellationToken cancellationToken)
    {
        if (_number == MaxParts)
        {
            throw new DestinationException(
                DestinationFault.NoRoom,
                $"The backup for '{_destination.Address}' is longer than {MaxParts:N0} parts, the most of an upload "
                    + $"({_sentBytes / 1e9:N0} GB so far). Give a larger part with the address (part-mb=).");
        }

        _uploadId ??= (await _destination.RunAsync(
            (client, bucket, stop) => client.InitiateMultipartUploadAsync(
                new InitiateMultipartUploadRequest { BucketName = bucket, Key = _key },
                stop), cancellationToken).ConfigureAwait(false)).UploadId;
        await _room.WaitAsync(cancellationToken).ConfigureAwait(false);
        ThrowIfFailed();
        _sending.RemoveAll(static sent => sent.IsCompleted);
        (byte[] part, int length, int number) = (_part, _filled, ++_number);
        int next = number < SmallParts ? _destination.PartBytes : 2 * _destination.PartBytes;
        _part = _spare.TryTake(out byte[]? spare) && spare.Length == next ? spare : GC.AllocateUninitializedArray<byte>(next);
        _filled = 0;
        _sentBytes += length;
        _sending.Add(Task.Run(() => SendAsync(part, length, number, cancellationToken), CancellationToken.None));
    }

    private async Task SendAsync(byte[] part, int length, int number, CancellationToken cancellationToken)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token, cancellationToken);
        try
        {
            UploadPartResponse arrived = await _destination.RunAsync(
                (client, bucket, stop) => client.UploadPartAsync(
                    new UploadPartRequest
                    {
                        BucketName = bucket,
                        Key = _key,
                        UploadId = _uploadId,
                        PartNumber = number,
                        PartSize = length,
                        InputStream = new MemoryStream(part, 0, length, writable: false),
                        UseChunkEncoding = false,
                        DisablePayloadSigning = _destination.IsSecure,
                    },
                    stop),
                either.Token).ConfigureAwait(false);
            _arrived.Add(new PartETag(number, arrived.ETag));
            _spare.Add(part);
        }
        catch (Exception error)
        {
            // Any exception is rethrown to the caller that writes the next part or commits.
            Interlocked.CompareExchange(ref _failure, error, null);
        }
        finally
        {
            _room.Release();
        }
    }

    private async Task CompleteAsync(string uploadId, CancellationToken cancellationToken)
    {
        try
        {
            await _destination.RunAsync(
                (client, bucket, stop) => client.CompleteMultipartUploadAsync(
                    new CompleteMultipartUploadRequest
                    {
                        BucketName = bucket,
                        Key = _key,
                        UploadId = uploadId,
                        PartETags = [.. _arrived.OrderBy(static part => part.PartNumber)]
                    }, stop),
                cancellationToken).ConfigureAwait(false);
        }
        catch (DestinationException) when (!cancellationToken.IsCancellationRequested)
        {
            // A previous attempt may have succeeded although its response was lost. The upload then no longer exists, but the
            // object does.
            if ((await _destination.FindAsync(_name, cancellationToken).ConfigureAwait(false))?.LengthBytes != _sentBytes)
                throw;
        }
    }

    private void ThrowIfFailed()
    {
        if (Volatile.Read(ref _failure) is { } failure)
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(failure);
    }
}
