namespace Treepie.Kinds;

/// <summary>Whether an item of another database was restored.</summary>
internal sealed record RestoredResult(bool IsTaken) : KindResult;
