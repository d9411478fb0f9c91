namespace Treepie.CommandLine.Import;

/// <summary>How far an import is. All counts are of what the server has acknowledged.</summary>
/// <param name="Written">Documents written.</param>
/// <param name="AlreadyThere">Documents left alone because they existed.</param>
/// <param name="Problems">Lines that are no documents, or were refused.</param>
/// <param name="FilePosition">Bytes of the file behind it, as they lie on disk.</param>
/// <param name="FileLength">Bytes of the file.</param>
/// <param name="BytesSent">Bytes of JSON sent.</param>
internal sealed record ImportCounts(
    long Written, long AlreadyThere, long Problems, long FilePosition, long FileLength, long BytesSent)
{
    /// <summary>Documents settled, one way or the other.</summary>
    public long Done => Written + AlreadyThere + Problems;
}
