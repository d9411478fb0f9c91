using Amazon.Runtime;
using Amazon.S3;
using Amazon.S3.Model;
using Treepie.Destinations;

namespace Treepie.S3;

/// <summary>
/// A bucket, or what is below a prefix of it. Uploads are multipart: parts go out while the next is filled, and nothing touches
/// the local disk. Memory: three parts for each upload, see <see cref="S3Upload"/>.
/// </summary>
internal sealed class S3Destination(S3Address address, AmazonS3Client client, Backoff backoff) : BackupDestination
{
    private const int MaxObjects = 100_000;
    private const string ProbeName = ".probe-of-backups";

    /// <summary>Tries of a probe: who waits for it is a person.</summary>
    private const int ProbeTries = 4;

    /// <summary>Pages of uploads that are looked at, of a thousand each.</summary>
    private const int MaxCleanedPages = 100;

    /// <summary>
    /// After so long without a part an upload is nobody's any more: a part of the default size takes a network of 2.4 kB/s that
    /// long.
    /// </summary>
    private static readonly TimeSpan _abandonedAfter = TimeSpan.FromHours(1);

    public override string Address => address.ToString();

    public override bool IsLocal => false;

    public override async Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default)
    {
        string key = address.KeyOf(ProbeName);
        await backoff.RunAsync(
            Address,
            stop => client.ListObjectsV2Async(
                new ListObjectsV2Request { BucketName = address.Bucket, Prefix = key, MaxKeys = 1 }, stop),
            cancellationToken, ProbeTries)
            .ConfigureAwait(false);
        // An upload that is begun and aborted shows that it may be written to, and leaves nothing.
        InitiateMultipartUploadResponse begun = await backoff.RunAsync(
            Address,
            stop => client.InitiateMultipartUploadAsync(
                new InitiateMultipartUploadRequest { BucketName = address.Bucket, Key = key }, stop),
            cancellationToken, ProbeTries)
            .ConfigureAwait(false);
        await AbortAsync(key, begun.UploadId, cancellationToken).ConfigureAwait(false);
    }

    public override async Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default)
    {
        CheckName(name);
        if (await FindAsync(name, cancellationToken).ConfigureAwait(false) is not null)
            throw new DestinationException(
                DestinationFault.NameTaken, $"'{name}' is at '{Address}' already, and no backup takes the place of another.");
        return new S3Upload(this, address.KeyOf(name), name);
    }

    public override async Task<IReadOnlyList<BackupObject>> ListAsync(
        string prefix, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        var found = new List<BackupObject>();
        int skipped = address.KeyOf("").Length;
        var request = new ListObjectsV2Request { BucketName = address.Bucket, Prefix = address.KeyOf(prefix) };
        do
        {
            ListObjectsV2Response page = await backoff.RunAsync(
                Address, stop => client.ListObjectsV2Async(request, stop), cancellationToken, ProbeTries).ConfigureAwait(false);
            foreach (S3Object item in page.S3Objects ?? [])
                found.Add(
                    new BackupObject(
                        item.Key[skipped..], item.Size ?? 0, (item.LastModified ?? DateTime.UnixEpoch).ToUniversalTime()));
            request.ContinuationToken = page.IsTruncated == true ? page.NextContinuationToken : null;
        }
        while (request.ContinuationToken is not null && found.Count < MaxObjects);
        return [.. found.OrderBy(static item => item.Name, StringComparer.Ordinal)];
    }

    public override async Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default)
    {
        CheckName(name);
        BackupObject item = await FindAsync(name, cancellationToken).ConfigureAwait(false)
            ?? throw new DestinationException(DestinationFault.NotFound, $"There is no backup '{name}' at '{Address}'.");
        return new S3ReadStream(this, address.KeyOf(name), item.LengthBytes);
    }

    public override async Task DeleteAsync(string name, CancellationToken cancellationToken = default)
    {
        CheckName(name);
        await backoff.RunAsync(
            Address, stop => client.DeleteObjectAsync(address.Bucket, address.KeyOf(name), stop), cancellationToken,
            ProbeTries).ConfigureAwait(false);
    }

    public override async Task CleanAsync(string prefix, CancellationToken cancellationToken = default)
    {
        try
        {
            var request = new ListMultipartUploadsRequest { BucketName = address.Bucket, Prefix = address.KeyOf(prefix) };
            for (int page = 0; page < MaxCleanedPages; page++)
            {
                ListMultipartUploadsResponse open = await client.ListMultipartUploadsAsync(request, cancellationToken)
                    .ConfigureAwait(false);
                foreach (MultipartUpload upload in open.MultipartUploads ?? [])
                    if (await IsAbandonedAsync(upload, cancellationToken).ConfigureAwait(false))
                        await AbortAsync(upload.Key, upload.UploadId, cancellationToken).ConfigureAwait(false);
                if (open.IsTruncated != true)
                    return;
                (request.KeyMarker, request.UploadIdMarker) = (open.NextKeyMarker, open.NextUploadIdMarker);
            }
        }
        catch (Exception error) when (error is AmazonServiceException or AmazonClientException or HttpRequestException)
        {
            // Not every place lists them; what is left there costs room, and its own rules for such uploads remove it.
        }
    }

    /// <summary>
    /// Whether nothing has arrived of an upload for so long that nobody can be at work on it: parts arrive one after the other,
    /// and one that is lost is sent again or the upload aborted.
    /// </summary>
    private async Task<bool> IsAbandonedAsync(MultipartUpload upload, CancellationToken cancellationToken)
    {
        if (upload.Initiated is not { } begun || IsRecent(begun))
            return false;

        var request = new ListPartsRequest { BucketName = address.Bucket, Key = upload.Key, UploadId = upload.UploadId };
        while (true)
        {
            ListPartsResponse parts = await client.ListPartsAsync(request, cancellationToken).ConfigureAwait(false);
            if ((parts.Parts ?? []).Exists(part => part.LastModified is { } arrived && IsRecent(arrived)))
                return false;
            if (parts.IsTruncated != true || parts.NextPartNumberMarker is not { } next)
                return true;
            request.PartNumberMarker = $"{next}";
        }
    }

    private bool IsRecent(DateTime at) => backoff.Now - at.ToUniversalTime() <= _abandonedAfter;

    internal Task<T> RunAsync<T>(
        Func<AmazonS3Client, string, CancellationToken, Task<T>> request, CancellationToken cancellationToken) =>
        backoff.RunAsync(Address, stop => request(client, address.Bucket, stop), cancellationToken);

    /// <summary>Does something that must not take longer than a try may.</summary>
    /// <exception cref="TimeoutException">It did.</exception>
    internal ValueTask<T> InTimeAsync<TState, T>(
        TState state, Func<TState, CancellationToken, ValueTask<T>> work,
        CancellationToken cancellationToken) => backoff.InTimeAsync(state, work, cancellationToken);

    internal Task WaitAsync(int tried, CancellationToken cancellationToken) => backoff.WaitAsync(tried, cancellationToken);

    internal int PartBytes => address.PartBytes;

    /// <summary>
    /// Whether what is sent goes through TLS, which proves it on its way: a hash of it in the signature would only cost the
    /// processor.
    /// </summary>
    internal bool IsSecure => address.Endpoint is not { Scheme: "http" };

    /// <summary>Aborts an upload; that it cannot be told is no error of what went before.</summary>
    internal async Task AbortAsync(string key, string uploadId, CancellationToken cancellationToken)
    {
        try
        {
            await backoff.RunAsync(
                Address,
                stop => client.AbortMultipartUploadAsync(
                    new AbortMultipartUploadRequest { BucketName = address.Bucket, Key = key, UploadId = uploadId }, stop),
                cancellationToken, ProbeTries)
                .ConfigureAwait(false);
        }
        catch (Exception error) when (error is DestinationException or OperationCanceledException)
        {
            // see CleanAsync
        }
    }

    /// <summary>The object of exactly that name; null if there is none.</summary>
    internal async Task<BackupObject?> FindAsync(string name, CancellationToken cancellationToken) =>
        (await ListAsync(name, cancellationToken).ConfigureAwait(false)).FirstOrDefault(item => item.Name == name);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            client.Dispose();
        base.Dispose(disposing);
    }
}
