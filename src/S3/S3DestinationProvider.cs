using System.Security.Cryptography;
using Amazon;
using Amazon.Runtime;
using Amazon.S3;
using Treepie.Destinations;

namespace Treepie.S3;

/// <summary>
/// Opens S3 destinations, <c>s3://bucket/prefix</c>. Uses the keys in the settings or, without them, those provided by the
/// environment (<c>AWS_ACCESS_KEY_ID</c> and <c>AWS_SECRET_ACCESS_KEY</c>, profiles, instance roles). Thread-safe.
/// </summary>
public sealed class S3DestinationProvider : DestinationProvider
{
    private readonly TimeProvider _clock;
    private readonly Func<double> _jitter;

    /// <summary>
    /// Creates a provider with a clock for waits between retries, and a source of numbers from 0 to 1 for their jitter. Null: the
    /// system's.
    /// </summary>
    public S3DestinationProvider(TimeProvider? clock = null, Func<double>? jitter = null)
    {
        _clock = clock ?? TimeProvider.System;
        _jitter = jitter ?? (static () => RandomNumberGenerator.GetInt32(1 << 20) / (double)(1 << 20));
    }

    /// <inheritdoc/>
    public override bool Takes(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return address.StartsWith(S3Address.Scheme, StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Returns the server that an address specifies; null if it is the default server of its region.</summary>
    /// <exception cref="DestinationException">The address is not valid.</exception>
    public static Uri? EndpointOf(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return S3Address.Parse(address).Endpoint;
    }

    /// <inheritdoc/>
    public override BackupDestination Open(DestinationSettings settings)
    {
        ArgumentNullException.ThrowIfNull(settings);
        S3Address address = S3Address.Parse(settings.Address);
        return new S3Destination(address, Client(address, settings), new Backoff(_clock, _jitter));
    }

    private static AmazonS3Client Client(S3Address address, DestinationSettings settings)
    {
        bool isLoopback = address.Endpoint?.IsLoopback == true;
        var config = new AmazonS3Config
        {
            ForcePathStyle = address.PathStyle,
            MaxErrorRetry = 0, // retries are done here, with our clock and the state of the upload
            Timeout = System.Threading.Timeout.InfiniteTimeSpan, // and so are timeouts
            HttpClientFactory = new HttpClients(isLoopback),
            // Each request is signed with a hash of its content; trailing checksums are not supported by all compatible services.
            RequestChecksumCalculation = RequestChecksumCalculation.WHEN_REQUIRED,
            ResponseChecksumValidation = ResponseChecksumValidation.WHEN_REQUIRED,
        };
        if (address.Endpoint is not null)
        {
            config.ServiceURL = address.Endpoint.AbsoluteUri;
            config.AuthenticationRegion = address.Region ?? "us-east-1";
        }
        else
        {
            config.RegionEndpoint = RegionEndpoint.GetBySystemName(
                address.Region ?? Environment.GetEnvironmentVariable("AWS_REGION") ?? "us-east-1");
        }

        if (!settings.HasKeys)
            return new AmazonS3Client(config);
        AWSCredentials keys = settings.SessionToken is { Length: > 0 } token
            ? new SessionAWSCredentials(settings.AccessKey, settings.SecretKey, token)
            : new BasicAWSCredentials(settings.AccessKey, settings.SecretKey);
        return new AmazonS3Client(keys, config);
    }

    /// <summary>Creates the HTTP client of one destination, which is disposed with it.</summary>
    private sealed class HttpClients(bool isLoopback) : HttpClientFactory
    {
        private static readonly TimeSpan _connectTimeout = TimeSpan.FromSeconds(15);

        public override HttpClient CreateHttpClient(IClientConfig clientConfig) => new(new SocketsHttpHandler
        {
            UseProxy = !isLoopback, // a proxy from the environment cannot reach this machine's loopback address
            UseCookies = false,
            AllowAutoRedirect = false,
            ConnectTimeout = _connectTimeout,
        })
        {
            Timeout = System.Threading.Timeout.InfiniteTimeSpan,
        };

        public override bool UseSDKHttpClientCaching(IClientConfig clientConfig) => false;

        public override bool DisposeHttpClientsAfterUse(IClientConfig clientConfig) => false;
    }
}
