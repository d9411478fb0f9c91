using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// A way of testing, in numbered pieces that are independent of each other: any thread may take the next one, and each can
/// be repeated
/// alone.
/// </summary>
internal interface IMode
{
    /// <summary>Name on the command line and in the report.</summary>
    string Name { get; }

    /// <summary>Number of pieces, or <see cref="long.MaxValue"/> if unlimited.</summary>
    long Pieces { get; }

    /// <summary>Whether a piece uses an encrypted environment.</summary>
    bool IsEncrypted(long piece);

    /// <summary>Runs a piece. Throws <see cref="TortureFailure"/>, minimized and with a log of events.</summary>
    void Run(long piece, Tally tally);
}
