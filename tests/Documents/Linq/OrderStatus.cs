namespace Treepie.Documents.Tests.Linq;

public enum OrderStatus
{
    Open,
    Sent,
    Done,
    Back,
}
