namespace Treepie.Documents.Tests.Linq;

[Flags]
public enum OrderFlags
{
    None = 0,
    Gift = 1,
    Fragile = 2,
    Express = 4,
    GiftExpress = 5,
}
