using System.Globalization;

namespace Treepie.S3;

/// <summary>
/// Parsed form of <c>s3://bucket/prefix?region=…&amp;endpoint=…&amp;path-style=…&amp;part-mb=…</c>. Services compatible with
/// S3 are reached at their <c>endpoint</c>, by default with the bucket in the path.
/// </summary>
internal sealed record S3Address(string Bucket, string Prefix, string? Region, Uri? Endpoint, bool PathStyle, int PartBytes)
{
    public const string Scheme = "s3://";

    /// <summary>
    /// Default part size: large enough that the cost of requests is small, small enough that three parts need little memory.
    /// </summary>
    private const int DefaultPartMb = 8;

    /// <summary>
    /// Minimum and maximum part size. S3 accepts no part below 5 MiB except the last. The maximum bounds the memory of an
    /// upload: three parts, which double in size later (<see cref="S3Upload"/>).
    /// </summary>
    private const int LeastPartMb = 5, MostPartMb = 64;

    /// <summary>Parses an address.</summary>
    /// <exception cref="DestinationException">The address is not valid; the message says why.</exception>
    public static S3Address Parse(string text)
    {
        string rest = text[Scheme.Length..];
        int question = rest.IndexOf('?', StringComparison.Ordinal);
        string path = question < 0 ? rest : rest[..question];
        int slash = path.IndexOf('/', StringComparison.Ordinal);
        string bucket = slash < 0 ? path : path[..slash], prefix = slash < 0 ? "" : path[(slash + 1)..].Trim('/');
        if (bucket.Length is < 3 or > 63
            || !bucket.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c) || c is '-' or '.'))
            throw Bad(text, $"'{bucket}' is no name of a bucket: 3 to 63 small letters, digits, dashes and dots");

        var address = new S3Address(bucket, prefix, null, null, false, DefaultPartMb << 20);
        bool? pathStyle = null;
        foreach (string pair in question < 0 ? [] : rest[(question + 1)..].Split('&', StringSplitOptions.RemoveEmptyEntries))
        {
            int equals = pair.IndexOf('=', StringComparison.Ordinal);
            string name = equals < 0 ? pair : pair[..equals],
                value = equals < 0 ? "" : Uri.UnescapeDataString(pair[(equals + 1)..]);
            switch (name)
            {
                case "region" when IsRegion(value):
                    address = address with { Region = value };
                    break;
                case "endpoint"
                    when Uri.TryCreate(value, UriKind.Absolute, out Uri? endpoint)
                        && endpoint.Scheme is "http" or "https"
                        && endpoint.UserInfo.Length == 0:
                    address = address with { Endpoint = endpoint };
                    break;
                case "path-style" when bool.TryParse(value, out bool style):
                    pathStyle = style;
                    break;
                case "part-mb"
                    when int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out int megabytes)
                        && megabytes is >= LeastPartMb and <= MostPartMb:
                    address = address with { PartBytes = megabytes << 20 };
                    break;
                default:
                    throw Bad(
                        text,
                        $"'{name}' is not understood, or its value is none; there are region=, endpoint=http(s)://…, "
                            + $"path-style=true|false and part-mb={LeastPartMb} to {MostPartMb}. Keys do not stand in an "
                            + $"address");
            }
        }

        return address with { PathStyle = pathStyle ?? address.Endpoint is not null };
    }

    /// <summary>Whether a region is valid. It becomes part of the name of the host to which keys are sent.</summary>
    private static bool IsRegion(string text) =>
        text.Length is > 0 and <= 40 && text.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c) || c == '-');

    /// <summary>The key of an object below the prefix.</summary>
    public string KeyOf(string name) => Prefix.Length == 0 ? name : $"{Prefix}/{name}";

    /// <summary>The address without parameters, for display.</summary>
    public override string ToString() => Prefix.Length == 0 ? $"{Scheme}{Bucket}" : $"{Scheme}{Bucket}/{Prefix}";

    // An invalid address may contain a misplaced key, so nothing after the question mark is quoted.
    private static DestinationException Bad(string text, string what)
    {
        int question = text.IndexOf('?', StringComparison.Ordinal);
        return new DestinationException(
            DestinationFault.BadAddress, $"The address '{(question < 0 ? text : text[..question])}' is not valid: {what}.");
    }
}
