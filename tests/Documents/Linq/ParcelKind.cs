namespace Treepie.Documents.Tests.Linq;

/// <summary>Names sort otherwise than numbers.</summary>
public enum ParcelKind
{
    Small = 1,
    Large = 2,
    Heavy = 5,
    Amber = 9,
}
