using Amazon.Runtime;
using Amazon.S3;
using Amazon.S3.Model;
using Treepie.Destinations;

namespace Treepie.S3;

/// <summary>
/// A bucket or a prefix in it. Uploads are multipart: parts are sent while the next is filled, without using the local disk.
/// Memory: three parts per upload, see <see cref="S3Upload"/>.
/// </summary>
internal sealed class S3Destination(S3Address address, AmazonS3Client client, Backoff backoff) : BackupDestination
{
    private const int MaxObjects = 100_000;
    private const string ProbeName = ".probe-of-backups";

    /// <summary>Number of attempts for interactive requests such as a probe, where a person waits.</summary>
    private const int ProbeTries = 4;

    /// <summary>Maximum number of listing pages, of a thousand uploads each, that are examined.</summary>
    private const int MaxCleanedPages = 100;

    /// <summary>
    /// Time without a new part after which an upload counts as abandoned. A part of the default size takes that long at 2.4 kB/s.
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
        // Starting and aborting an upload proves write permission and leaves nothing behind.
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
            // Not every service can list uploads. Abandoned ones only cost space until the bucket's lifecycle rules remove them.
        }
    }

    /// <summary>
    /// Whether no part of an upload has arrived for so long that it cannot be active: parts are sent continuously, and if
    /// one is lost it is resent or the upload is aborted.
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

    /// <summary>Runs an operation with the timeout of one attempt.</summary>
    /// <exception cref="TimeoutException">The timeout has expired.</exception>
    internal ValueTask<T> InTimeAsync<TState, T>(
        TState state, Func<TState, CancellationToken, ValueTask<T>> work,
        CancellationToken cancellationToken) => backoff.InTimeAsync(state, work, cancellationToken);

    internal Task WaitAsync(int tried, CancellationToken cancellationToken) => backoff.WaitAsync(tried, cancellationToken);

    internal int PartBytes => address.PartBytes;

    /// <summary>
    /// Whether requests use TLS. It already protects the content in transit, so a hash of it in the signature would only
    /// cost CPU time.
    /// </summary>
    internal bool IsSecure => address.Endpoint is not { Scheme: "http" };

    /// <summary>Aborts an upload. Failure to abort is ignored.</summary>
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
            // The remaining parts are removed later, see CleanAsync.
        }
    }

    /// <summary>Finds the object with exactly this name, or returns null.</summary>
    internal async Task<BackupObject?> FindAsync(string name, CancellationToken cancellationToken) =>
        (await ListAsync(name, cancellationToken).ConfigureAwait(false)).FirstOrDefault(item => item.Name == name);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            client.Dispose();
        base.Dispose(disposing);
    }
}
