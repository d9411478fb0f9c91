namespace Treepie.Writes;

/// <summary>What a HiLo client says when it asks for ids.</summary>
/// <param name="Tag">Collection tag, for instance <c>users</c>.</param>
/// <param name="LastBatchSize">Size of its last range; 0 at first.</param>
/// <param name="LastRangeAt">When it got it.</param>
/// <param name="LastMax">Greatest id it had.</param>
/// <param name="Separator">Between tag and number.</param>
public sealed record HiLoRequest(string Tag, long LastBatchSize, DateTime LastRangeAt, long LastMax, char Separator = '/');

/// <summary>Ids handed out: <c>Prefix + n + "-" + ServerTag</c> for n from Low to High.</summary>
public sealed record HiLoRange(string Prefix, long Low, long High, long LastSize, string ServerTag, DateTime LastRangeAt);
