namespace Treepie.Kinds;

/// <summary>Whether a value that another database had was taken.</summary>
internal sealed record RestoredResult(bool IsTaken) : KindResult;
