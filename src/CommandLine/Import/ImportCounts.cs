namespace Treepie.CommandLine.Import;

/// <summary>Progress of an import. All counts refer to what the server has acknowledged.</summary>
/// <param name="Written">Documents written.</param>
/// <param name="AlreadyThere">Documents left unchanged because they existed.</param>
/// <param name="Problems">Lines that hold no document or were refused.</param>
/// <param name="FilePosition">Bytes of the file that were processed, as stored on disk.</param>
/// <param name="FileLength">Length of the file in bytes.</param>
/// <param name="BytesSent">Bytes of JSON sent.</param>
internal sealed record ImportCounts(
    long Written, long AlreadyThere, long Problems, long FilePosition, long FileLength, long BytesSent)
{
    /// <summary>Number of lines processed, whatever the result.</summary>
    public long Done => Written + AlreadyThere + Problems;
}
