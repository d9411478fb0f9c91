using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Treepie.Store;

/// <summary>
/// The change vectors of one database in the form that clients see: <c>A:{etag}-{database id}</c>, with the id as 22 characters
/// of base64. A single node has one entry; <c>A</c> is its tag.
/// </summary>
internal sealed class ChangeVectors
{
    /// <summary>The maximum length of a change vector: tag and colon, 19 digits, dash, id.</summary>
    public const int MaxLength = 2 + 19 + 1 + IdLength;

    /// <summary>The tag of this node, in change vectors and generated ids.</summary>
    public const string NodeTag = "A";

    private const int IdLength = 22;

    private readonly byte[] _suffix;
    private readonly string _suffixText;

    public ChangeVectors(Guid databaseId)
    {
        DatabaseId = databaseId;
        string base64 = TextOf(databaseId);
        Debug.Assert(base64.Length == IdLength, "16 bytes are 22 characters");
        _suffixText = "-" + base64;
        _suffix = Encoding.ASCII.GetBytes(_suffixText);
    }

    /// <summary>The id of the database.</summary>
    public Guid DatabaseId { get; }

    /// <summary>Returns a database id in the form used in change vectors.</summary>
    public static string TextOf(Guid databaseId) => Convert.ToBase64String(databaseId.ToByteArray()).TrimEnd('=');

    /// <summary>Returns the change vector of an etag; empty for etag 0.</summary>
    public string Format(long etag) =>
        etag == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $"{NodeTag}:{etag}{_suffixText}");

    /// <summary>Writes the change vector of an etag; <paramref name="destination"/> has <see cref="MaxLength"/> bytes.</summary>
    public int Format(long etag, Span<byte> destination)
    {
        destination[0] = (byte)NodeTag[0];
        destination[1] = (byte)':';
        bool fits = Utf8Formatter.TryFormat(etag, destination[2..], out int digits);
        Debug.Assert(fits, "the destination has MaxLength bytes");
        _suffix.CopyTo(destination[(2 + digits)..]);
        return 2 + digits + _suffix.Length;
    }

    /// <summary>Returns whether a text is the change vector of an etag in this database.</summary>
    public bool Matches(ReadOnlySpan<char> changeVector, long etag)
    {
        if (changeVector.IndexOf(',') is >= 0 and var end)
            changeVector = changeVector[..end]; // in cluster-wide sessions, the index of an atomic guard follows
        Span<byte> actual = stackalloc byte[MaxLength];
        return Ascii.Equals(actual[..Format(etag, actual)], changeVector);
    }
}
