namespace Treepie.Writes;

/// <summary>A request of a HiLo client for a range of ids.</summary>
/// <param name="Tag">The collection tag, such as <c>users</c>.</param>
/// <param name="LastBatchSize">The size of the client's previous range; 0 at first.</param>
/// <param name="LastRangeAt">When the client received its previous range.</param>
/// <param name="LastMax">The greatest id of the client so far.</param>
/// <param name="Separator">The character between tag and number.</param>
public sealed record HiLoRequest(string Tag, long LastBatchSize, DateTime LastRangeAt, long LastMax, char Separator = '/');

/// <summary>A range of ids: <c>Prefix + n + "-" + ServerTag</c> for n from Low to High.</summary>
public sealed record HiLoRange(string Prefix, long Low, long High, long LastSize, string ServerTag, DateTime LastRangeAt);
