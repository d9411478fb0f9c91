using Amazon.S3.Model;

namespace Treepie.S3;

/// <summary>
/// Reads an object sequentially. If the connection breaks, it continues at the same position, provided that the object has not
/// changed; otherwise it fails. Not thread-safe.
/// </summary>
internal sealed class S3ReadStream(S3Destination destination, string key, long length) : Stream
{
    private GetObjectResponse? _answer;
    private string? _etag;
    private long _position;
    private int _broken;

    public override bool CanRead => true;

    /// <summary>False, although <see cref="Length"/> is available for showing progress.</summary>
    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => length;

    public override long Position
    {
        get => _position;
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        while (_position < length && !buffer.IsEmpty)
        {
            try
            {
                _answer ??= await OpenAsync(cancellationToken).ConfigureAwait(false);
                int read = await destination.InTimeAsync(
                    (Stream: _answer.ResponseStream, buffer), static (state, stop) => state.Stream.ReadAsync(state.buffer, stop),
                    cancellationToken).ConfigureAwait(false);
                if (read == 0)
                    throw new IOException("The connection ended before the object did.");
                _position += read;
                _broken = 0;
                return read;
            }
            catch (Exception error) when (error is not DestinationException && !cancellationToken.IsCancellationRequested)
            {
                _answer?.Dispose();
                _answer = null;
                if (!Backoff.IsWorthAnother(error) || ++_broken >= Backoff.MaxTries)
                    throw S3Errors.Explain(destination.Address, error, _broken);
                await destination.WaitAsync(_broken, cancellationToken).ConfigureAwait(false);
            }
        }

        return 0;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <summary>Blocks the thread, for synchronous readers.</summary>
    public override int Read(byte[] buffer, int offset, int count) =>
        ReadAsync(buffer.AsMemory(offset, count)).AsTask().GetAwaiter().GetResult();

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _answer?.Dispose();
        base.Dispose(disposing);
    }

    private async Task<GetObjectResponse> OpenAsync(CancellationToken cancellationToken)
    {
        var request = new GetObjectRequest { Key = key };
        if (_position > 0)
            (request.ByteRange, request.EtagToMatch) = (new ByteRange(_position, length - 1), _etag);
        GetObjectResponse answer = await destination.RunAsync(
            (client, bucket, stop) =>
            {
                request.BucketName = bucket;
                return client.GetObjectAsync(request, stop);
            },
            cancellationToken).ConfigureAwait(false);
        _etag = answer.ETag;
        return answer;
    }
}
